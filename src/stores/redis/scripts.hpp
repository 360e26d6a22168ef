// The scripts of the store, put together from scripts/ when the module is built.
#pragma once

#include "stores/redis/command.hpp"

namespace holdfast::stores::redis::scripts {

extern script const submit;
extern script const settle;
extern script const many;
extern script const renew;
extern script const convert;
extern script const adjust;
extern script const read;
extern script const swap;
extern script const watch;
extern script const inspect;
extern script const waited;
extern script const evict;

extern script const plain_acquire;
extern script const plain_release;
extern script const plain_renew;
extern script const plain_inspect;
extern script const plain_evict;

}  // namespace holdfast::stores::redis::scripts
