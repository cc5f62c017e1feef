//! The accept loop. It is ours for the sake of its clocks: a head that does not come, a connection that does nothing and
//! an answer that is not read all end, and at the end of the service no accepted request is lost.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{HeaderValue, header},
    response::Response,
};
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout},
};
use tower::ServiceExt;

use crate::{
    config::{Connections, Shutdown},
    framing::Watched,
};

/// How long the loop waits when the system has no descriptor left.
const BREATH: Duration = Duration::from_millis(50);
/// Most bytes of the head of a request, and of the headers of an HTTP/2 one.
const HEAD_BYTES: usize = 64 * 1024;
/// Most header lines of a request.
const HEADERS: usize = 100;

/// Connections that the system holds until they are accepted; Linux takes no more than `net.core.somaxconn`, 4096 unless
/// it was set. A handshake that finds the queue full looks done to the client, whose request is then answered by a reset.
const WAITING: u32 = 4096;

/// Marks a request whose head gave its length in two ways.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwoLengths;

/// A listener and what answers on it.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    routes: Router,
    settings: Connections,
    open: Arc<AtomicUsize>,
}

impl Server {
    /// Listens on that address, in the runtime it is called in.
    ///
    /// # Errors
    /// When it is taken, or not of this machine.
    pub fn bind(
        address: SocketAddr,
        routes: Router,
        settings: &Connections,
        open: Arc<AtomicUsize>,
    ) -> io::Result<Self> {
        Ok(Self { listener: listen(address)?, routes, settings: settings.clone(), open })
    }

    /// Where it listens: the port too, when the address left that open.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `end` says so; then finishes what was accepted. False when that took too long.
    pub async fn run(self, end: watch::Receiver<bool>, shutdown: &Shutdown) -> bool {
        let Self { listener, routes, settings, open } = self;
        let free = Arc::new(Semaphore::new(settings.most));
        let mut connections = JoinSet::new();
        let serve = |connections: &mut JoinSet<()>, stream: TcpStream, permit| {
            let served = connection(stream, routes.clone(), settings.clone(), end.clone());
            let open = open.clone();
            open.fetch_add(1, Ordering::Relaxed);
            connections.spawn(async move {
                served.await;
                open.fetch_sub(1, Ordering::Relaxed);
                drop(permit);
            });
        };
        let mut ended = end.clone();
        let mut ending = pin!(said(&mut ended));
        loop {
            // Connections beyond the most wait in the system's queue.
            let permit = tokio::select! {
                () = &mut ending => break,
                permit = free.clone().acquire_owned() => permit,
            };
            let accepted = tokio::select! {
                () = &mut ending => break,
                accepted = listener.accept() => accepted,
            };
            match (accepted, permit) {
                (Ok((stream, _)), Ok(permit)) => serve(&mut connections, stream, Some(permit)),
                (Err(error), _) => {
                    // A connection that broke before it was accepted is nothing; out of descriptors it is time to breathe.
                    tracing::warn!(error = %error, "accept");
                    sleep(BREATH).await;
                }
                (_, Err(_)) => break,
            }
            while connections.try_join_next().is_some() {}
        }
        // What the system has accepted for us is ours too.
        while let Ok(Ok((stream, _))) = timeout(Duration::ZERO, listener.accept()).await {
            serve(&mut connections, stream, None);
        }
        drop(listener);
        timeout(shutdown.finish.0, async { while connections.join_next().await.is_some() {} }).await.is_ok()
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A port whose last owner has ended is free, whatever its old connections still wait for.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// Waits until the service is to end; also when nobody is left to say so.
async fn said(end: &mut watch::Receiver<bool>) {
    let _ = end.wait_for(|end| *end).await;
}

/// What one connection is doing.
#[derive(Debug)]
struct Doing {
    requests: AtomicUsize,
    served: AtomicUsize,
    /// When that last changed.
    changed: std::sync::Mutex<Instant>,
}

impl Doing {
    fn change(&self) {
        *self.changed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Instant::now();
    }

    fn since(&self) -> Instant {
        *self.changed.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Counts a request as under way for as long as it lives.
struct UnderWay(Arc<Doing>);

impl UnderWay {
    fn new(doing: &Arc<Doing>) -> Self {
        doing.requests.fetch_add(1, Ordering::Relaxed);
        doing.served.fetch_add(1, Ordering::Relaxed);
        doing.change();
        Self(doing.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
        self.0.change();
    }
}

async fn connection(stream: TcpStream, routes: Router, settings: Connections, mut end: watch::Receiver<bool>) {
    // Answers are whole when they are written: nothing is gained by waiting for more.
    let _ = stream.set_nodelay(true);
    let doing = Arc::new(Doing { requests: 0.into(), served: 0.into(), changed: Instant::now().into() });
    let both = Arc::new(AtomicBool::new(false));
    let service = {
        let (doing, both) = (doing.clone(), both.clone());
        hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
            let under_way = UnderWay::new(&doing);
            let routes = routes.clone();
            let chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
            if chunked && both.load(Ordering::Relaxed) {
                request.extensions_mut().insert(TwoLengths);
            }
            async move {
                let mut response: Response = match routes.oneshot(request.map(Body::new) as Request).await {
                    Ok(response) => response,
                    Err(never) => match never {},
                };
                if chunked {
                    // Nothing is read along after a body in chunks, so nothing may follow it.
                    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                drop(under_way);
                Ok::<_, Infallible>(response)
            }
        })
    };
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.head.0)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(settings.idle.0)
        .keep_alive_timeout(settings.head.0)
        .max_concurrent_streams(64)
        .max_header_list_size(u32::try_from(HEAD_BYTES).unwrap_or(u32::MAX));
    let mut served = pin!(builder.serve_connection(TokioIo::new(Watched::new(stream, both)), service));
    let mut ending = false;
    loop {
        // Before the first request the head's own time counts, which HTTP/2 does not know.
        let patience = if doing.served.load(Ordering::Relaxed) == 0 { settings.head.0 } else { settings.idle.0 };
        let until = doing.since() + patience;
        tokio::select! {
            done = served.as_mut() => {
                if let Err(error) = done {
                    tracing::debug!(error = %error, "connection");
                }
                return;
            }
            () = sleep_until(until) => {
                if doing.requests.load(Ordering::Relaxed) > 0 {
                    // Handlers have clocks of their own.
                    doing.change();
                } else if doing.since() + patience <= Instant::now() {
                    return;
                }
            }
            () = said(&mut end), if !ending => {
                ending = true;
                // A request may be on its way on a connection that was accepted but not read yet.
                let first = async {
                    while doing.served.load(Ordering::Relaxed) == 0 {
                        sleep(Duration::from_millis(5)).await;
                    }
                };
                tokio::select! {
                    _ = served.as_mut() => return,
                    _ = timeout(settings.head.0.min(Duration::from_secs(1)), first) => {}
                }
                served.as_mut().graceful_shutdown();
            }
        }
    }
}
