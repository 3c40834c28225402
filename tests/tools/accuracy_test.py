#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tools/accuracy calls within its target, what it then exits with, and the tables of
docs/accuracy.md."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACCURACY = ROOT / "tools" / "accuracy"
sys.path.insert(0, str(ROOT / "tools"))
from twins import latency, launches, sets, table, transfers  # noqa: E402
from twins.common import CannotRun, pages_of  # noqa: E402
from twins.rates import Rate, print_rates  # noqa: E402

# Each row is a table of docs/accuracy.md.
MEASURED = [[ROOT / "bench" / "measured" / f"{name}.json" for name in names]
            for names in (("h200", "h100"), ("xeon", "epyc"))]
GPU = {"type": "gpu", "platform": "NVIDIA CUDA", "name": "NVIDIA H200", "driver": "580",
       "compute_units": 132}


def load_accuracy() -> types.ModuleType:
    loader = SourceFileLoader("accuracy", str(ACCURACY))
    spec = spec_from_loader("accuracy", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def rate(ours: float, other: float, **more: Any) -> Rate:
    return Rate("bandwidth", "read", "CUDA", ours=[ours], other=[other], **more)


class Targets(unittest.TestCase):
    """Of one row."""

    def test_a_ratio_is_within_both_ends_of_its_target(self) -> None:
        for ours, is_within in [(0.979, False), (0.981, True), (1.019, True), (1.021, False)]:
            self.assertEqual(rate(ours, 1.0, least=0.98, most=1.02).is_within(), is_within, ours)

    def test_a_row_without_a_target_is_there_to_be_read(self) -> None:
        self.assertTrue(rate(0.1, 1.0).is_within())
        self.assertTrue(rate(3.0, 1.0, least=0.97).is_within())

    def test_the_best_of_the_rounds_is_the_least_time(self) -> None:
        times = Rate("launch", "queued", "CUDA", unit="seconds", ours=[4.0, 5.0], other=[2.0, 8.0])
        self.assertEqual(times.ratio(), 2.0)
        self.assertEqual(Rate("a", "b", "c", ours=[4.0, 5.0], other=[2.0, 10.0]).ratio(), 0.5)

    def test_of_a_shared_host_the_median_of_rounds_counts(self) -> None:
        burst = Rate("a", "b", "c", is_shared=True, ours=[4.0, 5.0, 4.5], other=[9.0, 20.0, 1.0])
        self.assertEqual(burst.ratio(), 0.5)

    def test_a_missed_target_is_printed(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            print_rates("H200", [rate(0.9e9, 1e9, least=0.98, most=1.02), rate(1e9, 1e9, least=1.0)])
        missed, kept = said.getvalue().splitlines()[2:]
        self.assertRegex(missed, r"1\.00 +0\.90 GB/s +0\.9000 .* 0\.98 - 1\.02  MISSED$")
        self.assertRegex(kept, r">= 1$")

    def test_levels_are_held_to_2_percent_and_pinned_transfers_to_3(self) -> None:
        targets = {(case.series, case.size): (case.least, case.most)
                   for case in sets.CASES if not case.mode}
        of_writing = {(series, size) for series, size in targets if size == sets.SHARED_OUT}
        self.assertEqual({series for series, _ in of_writing}, {"write", "copy", "update"})
        self.assertEqual({targets.pop(each) for each in of_writing}, {(0.96, 1.04)})
        self.assertEqual(targets.pop(("read", sets.FAR)), (None, None))
        self.assertEqual({case.row().name for case in sets.CASES if case.row().is_shared},
                         {"read 16 MiB", "read 32 MiB", "read 16 MiB, another order",
                          "read 32 MiB, another order", "write 33 MiB", "copy 33 MiB", "update 33 MiB",
                          "image 16 MiB"})
        own = next(case for case in sets.CASES if case.size == sets.SHARED_OUT).row_of_own_groups()
        self.assertEqual((own.name, own.least, own.most, own.is_shared),
                         ("write 33 MiB, as large groups", 0.98, 1.02, True))
        self.assertEqual(set(targets.values()), {(0.98, 1.02)})
        self.assertLessEqual({"read", "read-own", "write", "copy", "update", "local", "image",
                              "write-one-unit"}, {series for series, _ in targets})
        self.assertIn((sets.FAR, 0.98, 1.03), {(case.size, case.least, case.most)
                                               for case in sets.CASES if case.mode})
        self.assertEqual({case.memory: case.least for case in transfers.CASES},
                         {"pinned": 0.97, "engine": 0.97, "pageable": None, "staged": None,
                          "managed": None})
        self.assertEqual({case.memory for case in transfers.CASES if case.row().is_shared}, {"pageable"})
        port = sets.port_row(rate(33.0e12, 33.0e12), {"compute_units": 132}, 2e9)
        self.assertAlmostEqual(port.ours[0], 125.0)
        self.assertEqual((port.least, port.most), (120.0 / 128.0, 1.0))

    def test_calls_that_copy_ordinary_memory_by_turns_are_held_to_3_percent(self) -> None:
        rows = transfers.rows_by_turns()
        transfers.add_turns(rows, {"to": {"opencl": [1.0, 9.0, 9.5], "cuda": [9.4, 2.0, 99.0]},
                                   "from": {"opencl": [14.0], "cuda": [15.0]}})
        self.assertEqual([(row.name, row.least, row.most, row.is_within()) for row in rows.values()],
                         [("to-device, the calls by turns", 0.97, 1.03, False),
                          ("from-device, the calls by turns", 0.97, 1.03, False)])
        self.assertEqual(rows["to"].ratio(), 9.0 / 9.4)
        self.assertTrue(Rate("a", "b", "c", rows["to"].least, rows["to"].most, ours=[9.0],
                             other=[9.2]).is_within())

    def test_copies_by_the_host_are_on_another_core_in_each_round(self) -> None:
        with mock.patch("os.sched_getaffinity", return_value=set(range(16))):
            self.assertEqual({transfers.core_of_round(number) for number in range(16)}, set(range(16)))
        with mock.patch("os.sched_getaffinity", return_value={5, 7}):
            self.assertEqual([transfers.core_of_round(number) for number in range(3)], [5, 7, 5])

    def test_of_copies_by_the_host_the_later_ones_count(self) -> None:
        self.assertEqual(transfers.settled([1.0, 2.0, 8.0, 10.0, 9.0]), 9.0)
        self.assertEqual(transfers.settled([1.0, 2.0, 9.0, 8.0]), 8.5)

    def test_clpeak_is_beside_the_best_call_and_beside_the_same_of_its_size(self) -> None:
        ours = {"to-device": 7.0, "to-device-pinned": 55.0, "from-device": 14.0, "from-device-pinned": 54.0}
        theirs = {"to-device": 8.0, "from-device": 12.0}
        with mock.patch("shutil.which", return_value="clpeak"):
            best = transfers.clpeak_rows()
        transfers.add_clpeak(best, theirs, ours)
        self.assertEqual([(row.name, row.ours, row.other, row.least) for row in best.values()],
                         [("to-device, the best call", [55.0], [8.0], 1.0),
                          ("from-device, the best call", [54.0], [12.0], 1.0)])
        ordinary = transfers.rows_beyond_cache(512 << 20, "clpeak")
        transfers.add_round(ordinary, theirs, {"to-device": 8.0, "from-device": 11.0})
        self.assertEqual([(row.name, row.ours, row.other, row.is_within()) for row in ordinary.values()],
                         [("to-device 512 MiB", [8.0], [8.0], True),
                          ("from-device 512 MiB", [11.0], [12.0], False)])

    def test_the_start_of_a_copy_is_a_time_beside_the_same_call(self) -> None:
        rows = transfers.rows_of_starts()
        with mock.patch.object(transfers, "run_json",
                               side_effect=[{"seconds": [9e-6, 5e-6, 5e-6]}, {"seconds": [10e-6]}]) as run:
            transfers.add_starts(rows, ["plain", "1", 2],
                                 {"to-device": 1024 / 6e-6, "from-device": 1024 / 15e-6})
        self.assertEqual(run.call_args.args[0], ["plain", "1", 2, "from", 1024, 100])
        self.assertEqual([(row.name, round(row.ratio(), 3), row.is_within()) for row in rows.values()],
                         [("to-device 1 KiB", 1.2, True), ("from-device 1 KiB", 1.5, False)])

    def test_launches_are_held_to_the_plainest_program_on_the_same_device(self) -> None:
        options = types.SimpleNamespace(repeats=7)
        device = GPU | {"platform_index": "1:2"}
        ran: list[list[Any]] = []

        def seconds_of(words: list[Any]) -> dict[str, list[float]]:
            ran.append(words[1:])
            return {"seconds": [4e-6, 5e-6, 9e-6]}

        with mock.patch.object(launches, "build_twin", return_value="twin"), \
                mock.patch.object(launches, "run_json", side_effect=seconds_of):
            plain = launches.PlainTwin(device, options, launches.PLAIN_MOST)
            plain.add_round({"1 queued": 5e-6, "idle-queues-64": 6e-6})
        self.assertEqual(ran, [["1", "2", 1, 70], ["1", "2", 256, 70, 64]])
        rows = [row for row in plain.rows if row.ours]
        self.assertEqual([(row.name, row.is_within()) for row in rows],
                         [("1 queued", True), ("idle-queues-64", False)])

    def test_what_is_written_to_a_cache_is_beside_groups_of_the_same_size(self) -> None:
        medians = {"4224 x 64, 65 times": 4.1e12, "264 x 1024, 7 times": 4.0e12}
        self.assertEqual(sets.rate_of_own_groups({"medians": medians}), 4.0e12)
        with self.assertRaisesRegex(CannotRun, "the twin has no one grid of groups of 1024: 8 x 64"):
            sets.rate_of_own_groups({"medians": {"8 x 64, 1 times": 1e12}})


class TwinsOfCpus(unittest.TestCase):
    """They do what clprobe did."""

    def test_a_chase_is_on_the_pages_that_the_point_was_on(self) -> None:
        document: dict[str, Any] = {"device": {"clock": {"overhead_ticks": 10}}, "results": [{"points": [
            {"series": "global", "parameters": {"working_set_bytes": 1 << 30, "step_bytes": 64},
             "facts": {"huge_page_percent": 100}, "samples": [{"ticks": 2710, "accesses": 10}]}]}]}
        ticks, known = latency.clprobe_ticks(document, latency.CPU[2])
        self.assertEqual((ticks, pages_of(known), known["step_bytes"]), (270.0, "huge", 64))
        self.assertEqual([pages_of({"huge_page_percent": percent}) for percent in (49, 50)],
                         ["small", "huge"])
        self.assertEqual(pages_of({}), "small")

    def test_clpeak_is_held_against_transfers_of_its_own_size(self) -> None:
        mib = 1 << 20
        for allocation, size in [(8192, 512), (1024, 512), (1000, 500)]:
            device = {"max_allocation_bytes": allocation * mib}
            self.assertEqual(transfers.size_of_clpeak(device), size * mib)
        with mock.patch("shutil.which", return_value="clpeak"):
            rows = transfers.clpeak_rows(512 * mib)
        self.assertEqual([(row.name, row.least) for row in rows.values()],
                         [("to-device 512 MiB, the best call", 1.0),
                          ("from-device 512 MiB, the best call", 1.0)])

    def test_cpus_have_rows_of_each_cache_read_written_and_copied(self) -> None:
        sizes = {(series, size) for cases in sets.CPU_CASES for series, _, size in cases}
        self.assertLessEqual({("read", 16 << 10), ("read-one-unit", 16 << 10), ("write", 256 << 10),
                              ("copy", 256 << 10), ("read", 64 << 20)}, sizes)


class Exits(unittest.TestCase):
    """With 1 where a row misses its target."""

    def status_of(self, rows: list[Rate], *words: str) -> int:
        accuracy = load_accuracy()
        with mock.patch.object(accuracy, "run_json", return_value={"devices": [GPU]}), \
                mock.patch.object(accuracy, "comparisons_of",
                                  return_value={"bandwidth": lambda: rows}), \
                mock.patch.object(sys, "argv", ["accuracy", "--program", "clprobe", *words]), \
                contextlib.redirect_stdout(io.StringIO()):
            return int(accuracy.main())

    def test_the_status_says_whether_a_row_missed(self) -> None:
        self.assertEqual(self.status_of([rate(1.0, 1.0, least=0.98)]), 0)
        self.assertEqual(self.status_of([rate(1.0, 1.0, least=0.98), rate(0.5, 1.0, least=0.98)]), 1)
        self.assertEqual(self.status_of([rate(0.5, 1.0)]), 0)

    def test_what_was_measured_is_kept(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kept.json")
            self.status_of([rate(2.0, 1.0, least=0.98)], "--keep", str(path))
            kept = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(kept["device"], "NVIDIA H200")
        self.assertEqual(kept["rows"], [{"probe": "bandwidth", "name": "read", "by": "CUDA",
                                         "unit": "bytes_per_second", "ours": 2.0, "other": 1.0,
                                         "least": 0.98, "most": None}])

    def test_a_probe_that_is_measured_again_replaces_its_own_rows_alone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kept.json")

            def ours_after(rows: list[Any], **other: Any) -> list[float]:
                load_accuracy().keep(path, GPU | other, rows)
                return [row["ours"] for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]

            clock = Rate("clock", "arithmetic", "CUDA", unit="hertz", ours=[4.0], other=[4.0])
            self.assertEqual(ours_after([rate(1.0, 1.0), rate(2.0, 1.0)]), [1.0, 2.0])
            self.assertEqual(ours_after([clock]), [1.0, 2.0, 4.0])
            self.assertEqual(ours_after([rate(3.0, 1.0)]), [4.0, 3.0])
            self.assertEqual(ours_after([]), [4.0, 3.0])
            self.assertEqual(ours_after([clock], driver="581"), [4.0])


class Table(unittest.TestCase):
    """That of docs/accuracy.md."""

    def test_the_page_has_the_tables_of_what_was_stored(self) -> None:
        for files in MEASURED:
            with self.subTest(files[0].name):
                self.check_table_of(files)

    def check_table_of(self, files: list[pathlib.Path]) -> None:
        made = subprocess.run([ACCURACY, "--table", *files], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        self.assertGreaterEqual(len(made.splitlines()), 5)
        page = ROOT / "docs" / "accuracy.md"
        text = page.read_text(encoding="utf-8")
        if os.environ.get("CLPROBE_UPDATE_GOLDEN"):
            head = "|  | " + made.splitlines()[0].split(" | ")[1]
            begin = text.index(head)
            text = text[:begin] + made + text[text.index("\n\n", begin) + 1:]
            page.write_text(text, encoding="utf-8")
        self.assertIn("\n\n" + made + "\n", text)

    def test_stored_rows_that_missed_say_why(self) -> None:
        for path in sum(MEASURED, []):
            for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
                ratio = row["ours"] / row["other"]
                is_within = (row["least"] or 0.0) <= ratio <= (row["most"] or ratio)
                self.assertNotEqual(is_within, bool(row.get("why_missed")), (path.name, row))

    def test_each_program_has_its_own_number(self) -> None:
        rows = [("to-device-pinned", "CUDA", 55e9, 54e9),
                ("to-device-pinned", "nvbandwidth's way", 55e9, 56e9),
                ("to-device", "CUDA", 9e9, 10e9), ("to-device, the best call", "clpeak", 55e9, 8e9),
                ("to-device 512 MiB", "clpeak", 11e9, 8e9)]
        kept = {"device": "NVIDIA H100 80GB HBM3",
                "rows": [{"probe": "transfer", "name": name, "by": by, "ours": ours, "other": other}
                         for name, by, ours, other in rows]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kept.json")
            path.write_text(json.dumps(kept), encoding="utf-8")
            lines = table.table_of([path]).splitlines()
        self.assertEqual(lines[0], "|  | H100 clprobe | CUDA | clpeak |")
        self.assertEqual(lines[2:],
                         ["| pinned memory: to, from device, both, GB/s | 55.0, –, – | 56.0, –, – | – |",
                          "| ordinary memory, 64 MiB, 512 MiB: to, from device, GB/s | 9.0, –, 11.0, – "
                          "| 10.0, –, –, – | –, –, 8.0, – |"])

    def test_cpus_have_a_table_of_their_own(self) -> None:
        self.assertEqual(table.short_name("cpu-skylake-avx512-Intel(R) Xeon(R) Processor"), "Xeon")
        rows = [{"probe": "transfer", "name": name, "by": by, "ours": 50e9, "other": other}
                for name, by, other in [("to-device", "memcpy", 49e9),
                                        ("to-device 512 MiB, the best call", "clpeak", 40e9)]]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kept.json")
            path.write_text(json.dumps({"device": "pthread-haswell-AMD EPYC", "rows": rows}),
                            encoding="utf-8")
            self.assertEqual(table.table_of([path]).splitlines()[::2],
                             ["|  | EPYC clprobe | C++ | clpeak |",
                              "| transfers of 64 MiB, 512 MiB: to, from device, GB/s | 50.0, –, –, – "
                              "| 49.0, –, –, – | –, –, 40.0, – |"])
            with self.assertRaisesRegex(CannotRun, "of their own"):
                table.table_of([path, MEASURED[0][0]])

    def test_a_file_that_is_none_is_named(self) -> None:
        with self.assertRaisesRegex(CannotRun, "nosuch"):
            table.table_of([pathlib.Path("nosuch.json")])


if __name__ == "__main__":
    unittest.main()
