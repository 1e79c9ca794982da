//! A process in the place of the one that reads documents tries to get out. Without locks it does; with them nothing works.
//! Where the kernel lacks a lock nothing is tried, unless `CITED_TEST_REQUIRE_LOCKS` fails the test there.

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        collections::BTreeMap,
        fs, io,
        net::{TcpListener, TcpStream, UdpSocket},
        os::{
            fd::{AsFd, OwnedFd},
            linux::net::SocketAddrExt,
            unix::{
                fs::{PermissionsExt, symlink},
                net::{SocketAddr, UnixListener, UnixStream},
            },
        },
        path::{Path, PathBuf},
        process::{Command, Stdio},
    };

    use confine::{Lock, confine};
    use nix::{
        mount::{MsFlags, mount},
        sched::{CloneFlags, unshare},
        sys::{
            memfd::{MFdFlags, memfd_create},
            signal::kill,
            uio::{RemoteIoVec, process_vm_readv},
        },
        unistd::{Pid, Uid, chroot, geteuid, getppid, setuid},
    };

    /// Attempts that a process which may start a program is let do: the program needs them.
    const FOR_A_PROGRAM: [&str; 5] =
        ["start a program", "duplicate itself", "look at a path", "change folder", "look around in a folder"];
    const MODES: [&str; 3] = ["free", "computing", "with a program"];

    type Attempt<'a> = (&'static str, Box<dyn Fn() -> io::Result<()> + 'a>);

    pub(super) fn main() {
        let arguments: Vec<String> = std::env::args().collect();
        match arguments.as_slice() {
            [_, mode, folder, port, word] if MODES.contains(&mode.as_str()) => {
                let place = word.parse().expect("an address");
                attempt_all(mode, Path::new(folder), port.parse().expect("a port"), place);
            }
            _ => run_all(),
        }
    }

    /// Runs this program in each mode and looks at what it could do.
    fn run_all() {
        let missing: Vec<Lock> = run("computing").0.into_iter().filter(|lock| lock.missing.is_some()).collect();
        if !missing.is_empty() {
            let is_required = std::env::var_os("CITED_TEST_REQUIRE_LOCKS").is_some();
            assert!(!is_required, "this kernel lacks locks: {missing:?}");
            eprintln!("NOT TRIED: this kernel lacks locks: {missing:?}");
            return;
        }
        let (_, free) = run("free");
        let possible: Vec<&String> = free.iter().filter(|(_, done)| **done).map(|(name, _)| name).collect();
        let expected = if geteuid().is_root() { 27 } else { 23 };
        assert!(possible.len() >= expected, "the attempts themselves must work without locks: {free:?}");
        let (_, computing) = run("computing");
        assert!(computing.values().all(|done| !done), "{computing:?}");
        let (_, with_a_program) = run("with a program");
        for (name, done) in &with_a_program {
            assert!(!done || FOR_A_PROGRAM.contains(&name.as_str()), "{name}: {with_a_program:?}");
        }
        assert!(with_a_program.get("start a program") == Some(&true), "{with_a_program:?}");
        println!("{} attempts, {} work without locks, none with them", free.len(), possible.len());
    }

    /// The locks of a process of this mode, and what it could do.
    fn run(mode: &str) -> (Vec<Lock>, BTreeMap<String, bool>) {
        let folder =
            std::env::temp_dir().join(format!("cited-escapes-{}-{}", std::process::id(), mode.replace(' ', "-")));
        fs::create_dir_all(folder.join("inner")).expect("a folder");
        for name in ["read", "written", "deleted", "renamed", "mode"] {
            fs::write(folder.join(name), "secret").expect("a file");
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o666)).expect("for all");
        }
        for open in [folder.clone(), folder.join("inner")] {
            fs::set_permissions(open, fs::Permissions::from_mode(0o777)).expect("for all");
        }
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let _by_path = UnixListener::bind(folder.join("socket")).expect("a socket");
        fs::set_permissions(folder.join("socket"), fs::Permissions::from_mode(0o777)).expect("for all");
        let _abstract = UnixListener::bind_addr(&abstract_name(&folder)).expect("a socket");
        let port = tcp.local_addr().expect("an address").port().to_string();
        let word = Box::new(*b"a secret");
        let place = std::ptr::from_ref(&*word).addr().to_string();
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args([mode, folder.to_str().expect("text"), &port, &place])
            .stdin(Stdio::null())
            .output()
            .expect("it runs");
        fs::remove_dir_all(&folder).expect("removed");
        assert!(output.status.success(), "{mode}: {output:?}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn abstract_name(folder: &Path) -> SocketAddr {
        SocketAddr::from_abstract_name(folder.to_str().expect("text")).expect("a name")
    }

    /// Confines itself as the mode says, tries everything, and says what worked.
    fn attempt_all(mode: &str, folder: &Path, port: u16, word: usize) {
        let parent = getppid();
        let locks = match mode {
            "free" => Vec::new(),
            "computing" => confine(None),
            _ => confine(Some(Path::new("/bin/sh"))),
        };
        let mut attempts = on_files(folder);
        attempts.extend(on_the_network(folder, port));
        attempts.extend(on_processes(parent, word, folder));
        let done: BTreeMap<&str, bool> = attempts.iter().map(|(name, attempt)| (*name, attempt().is_ok())).collect();
        println!("{}", serde_json::to_string(&(locks, done)).expect("JSON"));
    }

    fn on_files(folder: &Path) -> Vec<Attempt<'_>> {
        let at = |name: &str| -> PathBuf { folder.join(name) };
        vec![
            ("read a file", Box::new(move || fs::read(at("read")).map(drop))),
            ("read the users", Box::new(|| fs::read("/etc/passwd").map(drop))),
            ("read its own memory map", Box::new(|| fs::read("/proc/self/maps").map(drop))),
            ("list the root", Box::new(|| fs::read_dir("/").map(drop))),
            ("look around in a folder", Box::new(|| fs::read_dir("/usr").map(drop))),
            ("look at a path", Box::new(|| fs::metadata("/").map(drop))),
            ("make a file", Box::new(move || fs::write(at("made"), "words"))),
            ("write a file", Box::new(move || fs::write(at("written"), "words"))),
            ("delete a file", Box::new(move || fs::remove_file(at("deleted")))),
            ("rename a file", Box::new(move || fs::rename(at("renamed"), at("inner/renamed")))),
            ("make a folder", Box::new(move || fs::create_dir(at("inner/folder")))),
            ("make a link", Box::new(move || symlink("/etc/passwd", at("inner/link")))),
            (
                "make a file in memory",
                Box::new(|| memfd_create("words", MFdFlags::empty()).map(drop).map_err(Into::into)),
            ),
            ("hold many files", Box::new(hold_many_files)),
            ("change folder", Box::new(|| std::env::set_current_dir("/"))),
            (
                "mount a file system",
                Box::new(move || {
                    let mounted = mount(Some("none"), &at("inner"), Some("tmpfs"), MsFlags::empty(), None::<&str>);
                    mounted.and_then(|()| nix::mount::umount(&at("inner"))).map_err(Into::into)
                }),
            ),
        ]
    }

    /// Copies of a descriptor: the way to more of them that calls of computing leave.
    fn hold_many_files() -> io::Result<()> {
        let copies: io::Result<Vec<OwnedFd>> = (0..100).map(|_| io::stdout().as_fd().try_clone_to_owned()).collect();
        copies.map(drop)
    }

    fn on_the_network(folder: &Path, port: u16) -> Vec<Attempt<'_>> {
        vec![
            ("connect to a service", Box::new(move || TcpStream::connect(("127.0.0.1", port)).map(drop))),
            ("listen", Box::new(|| TcpListener::bind("127.0.0.1:0").map(drop))),
            (
                "send a datagram",
                Box::new(move || UdpSocket::bind("127.0.0.1:0")?.send_to(b"words", ("127.0.0.1", port)).map(drop)),
            ),
            ("connect to a socket by its path", Box::new(move || UnixStream::connect(folder.join("socket")).map(drop))),
            (
                "connect to an abstract socket",
                Box::new(move || UnixStream::connect_addr(&abstract_name(folder)).map(drop)),
            ),
            (
                "make a pair of sockets and send",
                Box::new(|| {
                    let (one, _other) = UnixStream::pair()?;
                    nix::sys::socket::send(
                        std::os::fd::AsRawFd::as_raw_fd(&one),
                        b"words",
                        nix::sys::socket::MsgFlags::empty(),
                    )?;
                    Ok(())
                }),
            ),
        ]
    }

    fn on_processes(parent: Pid, secret: usize, folder: &Path) -> Vec<Attempt<'_>> {
        vec![
            (
                "read the environment of its parent",
                Box::new(move || fs::read(format!("/proc/{parent}/environ")).map(drop)),
            ),
            (
                "look into the memory of its parent",
                Box::new(move || {
                    let mut word = [0; 8];
                    let mut local = [io::IoSliceMut::new(&mut word)];
                    process_vm_readv(parent, &mut local, &[RemoteIoVec { base: secret, len: 8 }])?;
                    Ok(())
                }),
            ),
            ("send its parent a signal", Box::new(move || kill(parent, None).map_err(Into::into))),
            ("start a program", Box::new(|| Command::new("/bin/true").status().map(drop))),
            ("duplicate itself", Box::new(|| Command::new("/bin/sh").args(["-c", "(true) & wait"]).status().map(drop))),
            (
                "start a file that it wrote",
                Box::new(move || {
                    let path = folder.join("inner/program");
                    fs::write(&path, "#!/bin/sh\n")?;
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
                    Command::new(path).status().map(drop)
                }),
            ),
            ("become root", Box::new(|| setuid(Uid::from_raw(0)).map_err(Into::into))),
            ("make a namespace of its own", Box::new(|| unshare(CloneFlags::CLONE_NEWUTS).map_err(Into::into))),
            // The last: where it works, paths lead elsewhere from then on.
            ("change the root", Box::new(move || chroot(folder).map_err(Into::into))),
        ]
    }
}
