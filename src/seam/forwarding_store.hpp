// A store that forwards everything to another: a fault injector or tracer overrides what it needs.
#pragma once

#include <memory>
#include <utility>

#include "seam/store.hpp"

namespace holdfast::seam {

class forwarding_store : public store {
public:
    explicit forwarding_store(std::unique_ptr<store> inner) : inner_{std::move(inner)} {}

    [[nodiscard]] capabilities abilities() const override { return inner_->abilities(); }
    [[nodiscard]] lane_id lane_of(std::string_view name) const noexcept override {
        return inner_->lane_of(name);
    }
    [[nodiscard]] int descriptor() noexcept override { return inner_->descriptor(); }
    [[nodiscard]] std::optional<reply> send(request_id id, request what) noexcept override {
        return inner_->send(id, std::move(what));
    }
    void drive(base::instant until) override { inner_->drive(until); }
    void flush() noexcept override { inner_->flush(); }
    void interrupt() noexcept override { inner_->interrupt(); }
    void shut() noexcept override { inner_->shut(); }
    void abandon_in_child() noexcept override { inner_->abandon_in_child(); }
    [[nodiscard]] base::descriptor presence() noexcept override { return inner_->presence(); }

protected:
    [[nodiscard]] store& inner() noexcept { return *inner_; }

private:
    std::unique_ptr<store> inner_;
};

}  // namespace holdfast::seam
