"""Changes on disk: reported by the kernel, by watchfiles, or found by polling."""
