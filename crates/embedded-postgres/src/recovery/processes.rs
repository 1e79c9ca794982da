//! Which processes are the Postgres of a cluster. A process number alone proves nothing: numbers
//! are reused.

use std::path::Path;

/// The living Postgres processes that work on `cluster`.
#[cfg(target_os = "linux")]
pub(super) fn processes_of(cluster: &Path) -> Vec<i32> {
    use std::{fs, os::unix::fs::MetadataExt};

    let Ok(cluster) = fs::metadata(cluster) else {
        return Vec::new();
    };
    // Postgres and all its children work in the directory of their cluster, and keep their
    // program's name whatever they write into their title. The directory is compared by identity,
    // so a renamed path or a mount does not matter.
    let works_here = |process: &Path| {
        fs::read_to_string(process.join("comm")).is_ok_and(|name| name.trim_end() == "postgres")
            && fs::metadata(process.join("cwd"))
                .is_ok_and(|directory| (directory.dev(), directory.ino()) == (cluster.dev(), cluster.ino()))
    };
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            works_here(&entry.path()).then_some(pid)
        })
        .collect()
}

/// The living Postgres processes that work on `cluster`: the postmaster by its command line, and
/// its children.
///
/// Children whose postmaster is gone are not seen here. They end by themselves, and until then
/// Postgres refuses to start because they hold its shared memory; supervision tries again.
#[cfg(not(target_os = "linux"))]
pub(super) fn processes_of(cluster: &Path) -> Vec<i32> {
    use std::process::{Command, Stdio};

    Command::new("/bin/ps")
        .args(["-axww", "-o", "pid=,ppid=,command="])
        .stdin(Stdio::null())
        .output()
        .map(|output| parse_list(&String::from_utf8_lossy(&output.stdout), cluster))
        .unwrap_or_default()
}

/// Reads the list that `ps` prints.
#[cfg(any(test, not(target_os = "linux")))]
fn parse_list(list: &str, cluster: &Path) -> Vec<i32> {
    let data_argument = format!(" -D {} ", cluster.display());
    let processes: Vec<(i32, i32, &str)> = list
        .lines()
        .filter_map(|line| {
            let (pid, rest) = line.trim_start().split_once(' ')?;
            let (parent, command) = rest.trim_start().split_once(' ')?;
            Some((pid.parse().ok()?, parent.parse().ok()?, command))
        })
        .collect();
    let is_postmaster =
        |command: &str| command.split_once(&data_argument).is_some_and(|(program, _)| program.ends_with("/postgres"));
    let postmasters: Vec<i32> =
        processes.iter().filter(|(_, _, command)| is_postmaster(command)).map(|&(pid, _, _)| pid).collect();
    let children = processes.iter().filter(|(_, parent, _)| postmasters.contains(parent)).map(|&(pid, _, _)| pid);
    postmasters.iter().copied().chain(children).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_yields_the_postmaster_and_its_children_only() {
        let list = "\
    1     0 /sbin/launchd
  501     1 /opt/pg 18/bin/postgres -D /data/my cluster -c port=5432
  502   501 postgres: cited: checkpointer
  601     1 /opt/pg/bin/postgres -D /data/my cluster2 -c port=5432
  602   601 postgres: cited: checkpointer
  700     1 grep postgres -D /data/my cluster
  800     1 vi notes about -D /data/my cluster -c
";
        assert_eq!(parse_list(list, Path::new("/data/my cluster")), [501, 502]);
        assert_eq!(parse_list(list, Path::new("/data/other")), [] as [i32; 0]);
    }
}
