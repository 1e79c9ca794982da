//! CPU seconds and memory of processes, from `/proc`.

use std::{fs, path::Path};

use anyhow::Context as _;

/// Linux counts CPU time in hundredths of a second for user space, on every architecture in use.
const TICKS_PER_SECOND: f64 = 100.0;

/// CPU seconds that a process has used, without those of its children.
pub fn cpu_seconds(pid: u32) -> anyhow::Result<f64> {
    Ok(Stat::read(pid)?.own)
}

/// CPU seconds of a process and all its children, those that have ended included.
pub fn tree_cpu_seconds(parent: u32) -> anyhow::Result<f64> {
    let stat = Stat::read(parent)?;
    let mut sum = stat.own + stat.ended_children;
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A process may end between the listing and the reading.
        if let Ok(child) = Stat::read(pid)
            && child.parent == parent
        {
            sum += child.own + child.ended_children;
        }
    }
    Ok(sum)
}

/// Resident memory in MB: now, and the most so far.
pub fn memory_mb(pid: u32) -> anyhow::Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the service is gone")?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let read = |name: &str| field(name).with_context(|| format!("/proc has no {name}"));
    Ok((read("VmRSS:")? / 1_024.0, read("VmHWM:")? / 1_024.0))
}

/// The Postgres that serves a cluster.
pub fn postmaster(cluster: &Path) -> anyhow::Result<u32> {
    let file = fs::read_to_string(cluster.join("postmaster.pid"))
        .context("the embedded Postgres has left no process number")?;
    file.lines().next().unwrap_or_default().trim().parse().context("the embedded Postgres has left no process number")
}

struct Stat {
    parent: u32,
    own: f64,
    ended_children: f64,
}

impl Stat {
    fn read(pid: u32) -> anyhow::Result<Self> {
        let line = fs::read_to_string(format!("/proc/{pid}/stat")).with_context(|| format!("process {pid} is gone"))?;
        // The second field is the name in parentheses, which may hold anything.
        let rest = line.rsplit_once(')').map(|(_, rest)| rest).context("/proc is not as expected")?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |place: usize| {
            fields.get(place).and_then(|field| field.parse::<f64>().ok()).context("/proc is not as expected")
        };
        Ok(Self {
            parent: fields.get(1).and_then(|field| field.parse().ok()).context("/proc is not as expected")?,
            own: (number(11)? + number(12)?) / TICKS_PER_SECOND,
            ended_children: (number(13)? + number(14)?) / TICKS_PER_SECOND,
        })
    }
}
