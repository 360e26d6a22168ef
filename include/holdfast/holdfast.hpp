// All of holdfast but the Asio forms (<holdfast/asio.hpp>).
#pragma once

#include <holdfast/barrier.hpp>
#include <holdfast/client.hpp>
#include <holdfast/condition_variable.hpp>
#include <holdfast/election.hpp>
#include <holdfast/error.hpp>
#include <holdfast/info.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/options.hpp>
#include <holdfast/retry.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/version.hpp>
