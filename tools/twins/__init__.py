# SPDX-License-Identifier: Apache-2.0
"""clprobe's measurements against those of native programs, for tools/accuracy."""
