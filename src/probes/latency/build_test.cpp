// SPDX-License-Identifier: Apache-2.0
// How the kernels of the probe `latency` are built; they are not run here.
#include "probes/latency/latency.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "probes/latency/devices_test.hpp"

namespace clprobe::latency {
namespace {

TEST_CASE("pointers are chased where they stay valid, else indexes; and what was asked for") {
  const auto form = [](const DeviceInfo& device, AddressForm asked, std::string_view series) {
    Request request;
    set_address(request, asked);
    const Plan plan = plan_of(device, request);
    const auto point = std::find_if(plan.points.begin(), plan.points.end(),
                                    [&](const Point& each) { return each.series == series; });
    return point == plan.points.end() ? std::string() : point->parameters.text("address");
  };
  CHECK(form(big_gpu(), AddressForm::automatic, "global") == "pointer");
  CHECK(form(phone(), AddressForm::automatic, "global") == "index");
  CHECK(form(phone(), AddressForm::pointer, "global") == "pointer");
  CHECK(form(big_gpu(), AddressForm::offset, "global") == "offset");
  // Constants and images cannot hold pointers.
  CHECK(form(phone(), AddressForm::pointer, "constant-argument") == "offset");
  CHECK(form(big_gpu(), AddressForm::pointer, "constant-argument") == "index");  // NVIDIA: an
                                                                                 // index
  CHECK(form(big_gpu(), AddressForm::pointer, "constant-program") == "offset");
  CHECK(form(big_gpu(), AddressForm::pointer, "image") == "index");
}

TEST_CASE("a chase is as wide as its buffer needs") {
  const auto is_wide = [](AddressForm address, Bytes buffer) {
    const RingShape shape{.address = address, .buffer_bytes = buffer.count};
    const std::string options = build_options(series_named(global_series), shape);
    return options.find("-DWIDE=1") != std::string::npos;
  };
  CHECK_FALSE(is_wide(AddressForm::offset, gibibytes(4)));
  CHECK(is_wide(AddressForm::offset, gibibytes(4) + Bytes{64}));
  CHECK_FALSE(is_wide(AddressForm::index, gibibytes(16)));
  CHECK(is_wide(AddressForm::index, gibibytes(16) + Bytes{64}));
}

TEST_CASE("a series that there is not is refused") {
  CHECK_THROWS_AS(static_cast<void>(series_named("registers")), std::out_of_range);
  CHECK(series_named("global-scalar").is_scalar);
}

}  // namespace
}  // namespace clprobe::latency
