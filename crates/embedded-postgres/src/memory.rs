//! The amount of memory in which the private Postgres caches pages.

use sysinfo::System;

/// Minimum for small machines: Postgres's own default.
const LEAST_MB: u64 = 128;
/// Maximum, regardless of the machine's memory: further pages are left to the operating system's cache.
const MOST_MB: u64 = 8 * 1024;

/// The value of `shared_buffers`: a quarter of the memory that this process may use, as Postgres's manual advises
/// (20.4.1). Memory is taken as pages are read, so that a small database takes little.
pub(super) fn shared_buffers() -> String {
    format!("{}MB", share_mb(usable_bytes()))
}

fn share_mb(bytes: u64) -> u64 {
    (bytes / 4 / (1024 * 1024)).clamp(LEAST_MB, MOST_MB)
}

/// Memory of the machine, or of the container if that has less; 0 if the system does not report it.
fn usable_bytes() -> u64 {
    let Ok(mut system) = System::new() else { return 0 };
    system.refresh_memory();
    let machine = system.total_memory();
    system.cgroup_limits().map_or(machine, |limits| limits.total_memory.min(machine))
}

#[cfg(test)]
mod tests {
    use super::{share_mb, usable_bytes};

    #[test]
    fn a_quarter_within_bounds() {
        let shares = [0, 256 << 20, 1 << 30, 24 << 30, 1 << 40].map(share_mb);
        assert_eq!(shares, [128, 128, 256, 6_144, 8_192]);
    }

    #[test]
    fn this_machine_has_memory() {
        assert!(usable_bytes() > 64 << 20);
    }
}
