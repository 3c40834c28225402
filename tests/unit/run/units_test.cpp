// SPDX-License-Identifier: Apache-2.0
#include "clprobe/units.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace clprobe {

TEST_CASE("sizes that round to 1024 of a unit are shown in the next one") {
  CHECK(format_bytes(Bytes{1023}) == "1023 B");
  CHECK(format_bytes(Bytes{1048063}) == "1023 KiB");  // 1023.499
  CHECK(format_bytes(Bytes{1048064}) == "1 MiB");     // 1023.5
}

TEST_CASE("sizes are read in binary and decimal units") {
  CHECK(parse_bytes("4096") == Bytes{4096});
  CHECK(parse_bytes("64K") == kibibytes(64));
  CHECK(parse_bytes("64KiB") == kibibytes(64));
  CHECK(parse_bytes("64kb") == Bytes{64000});
  CHECK(parse_bytes("1.5MiB") == Bytes{1572864});
  CHECK(parse_bytes("8g") == gibibytes(8));
  CHECK(parse_bytes("64TiB") == gibibytes(64 * 1024));
  CHECK(parse_bytes("1.5t") == gibibytes(1536));
  CHECK(parse_bytes("2TB") == Bytes{2'000'000'000'000});
}

TEST_CASE("what is no size is refused") {
  for (const char* text : {"", "KiB", "-1", "1e3", "1.0001", "64Q", "64 KiB ", "nan", "inf",
                           "99999999999GiB", "0x10"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_bytes(text).has_value());
  }
}

TEST_CASE("sizes are shown with at most three digits") {
  CHECK(format_bytes(Bytes{512}) == "512 B");
  CHECK(format_bytes(kibibytes(192)) == "192 KiB");
  CHECK(format_bytes(kibibytes(1023)) == "1023 KiB");
  CHECK(format_bytes(Bytes{28941000}) == "27.6 MiB");
  CHECK(format_bytes(gibibytes(1)) == "1 GiB");
  CHECK(format_bytes(gibibytes(64 * 1024)) == "64 TiB");
  CHECK(format_bytes(gibibytes(1536)) == "1.5 TiB");
}

TEST_CASE("one is not many") {
  CHECK(format_count(0, "point") == "0 points");
  CHECK(format_count(1, "point") == "1 point");
  CHECK(format_count(2, "compute unit") == "2 compute units");
}

TEST_CASE("numbers and times keep three significant digits") {
  CHECK(format_number(32.0) == "32.0");
  CHECK(format_number(280.64) == "281");
  CHECK(format_number(0.5124) == "0.512");
  CHECK(format_number(0.0) == "0");
  CHECK(format_number(123456789012345.0) == "123456789012345");
  CHECK(format_number(1234567890123456.0) == "1.23e+15");
  CHECK(format_number(-1e300) == "-1.00e+300");
  CHECK(format_number(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(format_seconds(16.2e-9) == "16.2 ns");
  CHECK(format_seconds(1.354e-6) == "1.35 µs");
  CHECK(format_seconds(2.0) == "2.00 s");
  CHECK(format_seconds(0.5e-9) == "0.500 ns");
  CHECK(format_number(0.99996) == "1.00");
  CHECK(format_flops(66.44e12) == "66.4 TFLOP/s");
  CHECK(format_flops(429.2e9) == "429 GFLOP/s");
  CHECK(format_rate(4.412e12) == "4.41 TB/s");
  CHECK(format_rate(999.96e9) == "1.00 TB/s");
  CHECK(format_rate(19.84e9) == "19.8 GB/s");
  CHECK(format_rate(12.0) == "12.0 B/s");
}

}  // namespace clprobe
