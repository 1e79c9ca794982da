//! A line to a server that can be cut, and led to another one.

use std::sync::{
    Arc,
    atomic::{AtomicU16, Ordering},
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// Passes connections on to a server until it is cut. It ends with the value.
pub(super) struct Line {
    port: u16,
    server: Arc<AtomicU16>,
    is_cut: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

impl Line {
    /// A line to a port of loopback.
    pub(super) async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = Arc::new(AtomicU16::new(server));
        let led_to = Arc::clone(&server);
        let (is_cut, watched) = watch::channel(false);
        let task = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut cut = watched.clone();
                let server = led_to.load(Ordering::SeqCst);
                tokio::spawn(async move {
                    if *cut.borrow() {
                        return;
                    }
                    let Ok(mut server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = cut.wait_for(|is_cut| *is_cut) => {}
                    }
                });
            }
        });
        Self { port, server, is_cut, task }
    }

    /// Where it begins.
    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// Ends all connections, and lets nobody through.
    pub(super) fn cut(&self) {
        self.is_cut.send_replace(true);
    }

    /// From now on connections are passed on to another port of loopback.
    pub(super) fn lead_to(&self, server: u16) {
        self.server.store(server, Ordering::SeqCst);
    }

    /// Lets everybody through again.
    pub(super) fn mend(&self) {
        self.is_cut.send_replace(false);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.task.abort();
    }
}
