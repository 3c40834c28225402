# SPDX-License-Identifier: Apache-2.0
"""AMD's device libraries, as Debian has them."""

import glob

# Debian's device libraries are older than some of the devices: such a device borrows the
# description of the nearest one that is there. (Only its number and wave size matter to us.)
AMD_DEVICES = {
    # device: (isa library, 64-wide waves)
    "gfx906": ("906", True),
    "gfx90a": ("90a", True),
    "gfx942": ("940", True),
    "gfx1030": ("1030", False),
    "gfx1100": ("1036", False),
    "gfx1201": ("1036", False),
}


def amd_libraries(device: str) -> list[str]:
    """Options of clang that link those of a device."""
    folder = next(iter(sorted(glob.glob("/usr/lib/*/amdgcn/bitcode"))), "")
    isa, wide = AMD_DEVICES[device]
    names = ["opencl", "ocml", "ockl", "oclc_daz_opt_off", "oclc_unsafe_math_off",
             "oclc_finite_only_off", "oclc_correctly_rounded_sqrt_on",
             f"oclc_wavefrontsize64_{'on' if wide else 'off'}", f"oclc_isa_version_{isa}",
             "oclc_abi_version_400"]
    return [word for name in names
            for word in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", f"{folder}/{name}.bc")]
