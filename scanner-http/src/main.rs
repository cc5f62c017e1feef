//! The `scanner-http` program: configuration, state, routes, serve, end.

use std::{
    fs::File,
    io::{self, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use rustix::process::{Resource, getrlimit, setrlimit};
use scanner_http::{Config, ConfigError, Server, State, admin_router, config::Level, router};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    time::sleep,
};

const USAGE: &str = "\
scanner-http: judges the output of AI code execution, over HTTP.

  scanner-http [--config FILE]     serve; SCANNER_CONFIG names the file too
  scanner-http --check             read the configuration and the files it names, say what is wrong, and end
  scanner-http token               make a token, and the lines for the configuration
  scanner-http journal FOLDER      check the receipts kept there: whether one was changed or removed; exit code 0 or 1
  scanner-http health [ADDRESS]    ask a running service whether it is ready; exit code 0 or 1

Without a configuration it listens on 127.0.0.1:8080, and on 127.0.0.1:8081 for /healthz, /readyz and /metrics.
Try: curl --data-binary @FILE 'http://127.0.0.1:8080/v1/scan?audience=page', or open http://127.0.0.1:8080/docs
";

/// Connections of the admin listener: probes and a scraper or two.
const ADMIN_CONNECTIONS: usize = 64;
/// The command line or the configuration is wrong (sysexits `EX_USAGE`, as the command).
const WRONG: u8 = 64;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.peek().is_some_and(|first| first == scanner_worker::WORKER_ARGUMENT) {
        return scanner_worker::serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    if arguments.peek().is_some_and(|first| first == scanner_worker::LETTERS_ARGUMENT) {
        return scanner_worker::launch().into();
    }
    let mut file = std::env::var_os("SCANNER_CONFIG").map(PathBuf::from);
    let mut only_check = false;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--config" => match arguments.next() {
                Some(path) => file = Some(path.into()),
                None => return say("scanner-http: --config needs a file", WRONG),
            },
            "--check" => only_check = true,
            "token" => return token(),
            "journal" => match arguments.next() {
                Some(folder) => return journal(Path::new(&folder)),
                None => return say("scanner-http: journal needs a folder", WRONG),
            },
            "health" => return health(&arguments.next().unwrap_or_else(|| "127.0.0.1:8081".to_owned())),
            "--help" | "-h" => return print(USAGE),
            "--version" | "-V" => return print(concat!("scanner-http ", env!("CARGO_PKG_VERSION"), "\n")),
            other => {
                return say(
                    &format!("scanner-http: unknown argument {:?}\n\n{USAGE}", scanner_core::visible(other)),
                    WRONG,
                );
            }
        }
    }
    match prepare(file) {
        Ok(config) if only_check => match State::check(&config) {
            Ok(()) => print("good\n"),
            Err(error) => say(&format!("scanner-http: {error}"), WRONG),
        },
        Ok(config) => run(config),
        Err(error) => say(&format!("scanner-http: {error}"), WRONG),
    }
}

fn prepare(file: Option<PathBuf>) -> Result<Config, ConfigError> {
    Config::read(
        file.as_deref(),
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )
}

fn say(line: &str, code: u8) -> ExitCode {
    // Nothing can be done about a closed standard error.
    let _ = writeln!(io::stderr(), "{line}");
    ExitCode::from(code)
}

fn print(text: &str) -> ExitCode {
    io::stdout().write_all(text.as_bytes()).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

/// A token nobody can guess, and what the configuration holds of it.
fn token() -> ExitCode {
    let mut random = [0; 32];
    if let Err(error) = File::open("/dev/urandom").and_then(|mut system| system.read_exact(&mut random)) {
        return say(&format!("scanner-http: no random numbers: {error}"), 1);
    }
    let token = data_encoding::BASE64URL_NOPAD.encode(&random);
    let digest = scanner_core::sha256_hex(token.as_bytes());
    print(&format!(
        "# for the caller: Authorization: Bearer {token}\n[[tokens]]\ntenant = \"change-me\"\nsha256 = \"{digest}\"\n"
    ))
}

/// Whether the journal there is whole.
fn journal(folder: &Path) -> ExitCode {
    match scanner_http::journal::check(folder) {
        Ok(seen) if seen.lines == 0 => print("good: no receipts\n"),
        Ok(seen) => print(&format!(
            "good: {} receipts, from number {} to {} of {}\nhead {}\n",
            seen.lines,
            seen.first,
            seen.first + seen.lines - 1,
            seen.day,
            seen.head
        )),
        Err(error) => say(&format!("scanner-http: {error}"), 1),
    }
}

/// Asks `/readyz`: for containers that hold no other program.
fn health(address: &str) -> ExitCode {
    let asked = address.parse().map_err(io::Error::other).and_then(|address| {
        let patience = Duration::from_secs(2);
        let mut stream = TcpStream::connect_timeout(&address, patience)?;
        stream.set_read_timeout(Some(patience))?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.take(4096).read_to_string(&mut answer)?;
        Ok(answer)
    });
    match asked {
        Ok(answer) if answer.starts_with("HTTP/1.1 200 ") => print("ready\n"),
        Ok(_) => say("not ready", 1),
        Err(error) => say(&format!("scanner-http: {}: {error}", scanner_core::visible(address)), 1),
    }
}

fn run(config: Config) -> ExitCode {
    log(config.log.level);
    // Where it was, and not what it said: that may quote input.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "a panic");
    }));
    descriptors(&config);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(16).build() {
        Ok(runtime) => runtime,
        Err(error) => return say(&format!("scanner-http: {error}"), 1),
    };
    match runtime.block_on(serve(config)) {
        Ok(code) => code,
        Err(error) => say(&format!("scanner-http: {error}"), 1),
    }
}

/// As many file descriptors as the configuration can use; shells often start programs with fewer than the system grants.
fn descriptors(config: &Config) {
    // Both listeners, bodies in files, three pipes for each worker, and some for whatever else.
    let needed = config.connections.most.saturating_add(config.body.uploads).saturating_add(config.workers.queue);
    let workers = config.workers.count.saturating_add(config.workers.spare);
    let needed = needed.saturating_add(workers.saturating_mul(8)).saturating_add(256) as u64;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        limit.current = Some(limit.maximum.map_or(needed, |maximum| maximum.min(needed)));
        let raised = setrlimit(Resource::Nofile, limit).is_ok();
        if !raised || limit.current.is_some_and(|current| current < needed) {
            tracing::warn!(
                needed,
                granted = limit.current,
                "too few file descriptors (ulimit -n) for connections.most"
            );
        }
    }
}

/// One JSON object a line, to standard error.
fn log(level: Level) {
    let level = match level {
        Level::Off => tracing::level_filters::LevelFilter::OFF,
        Level::Error => tracing::level_filters::LevelFilter::ERROR,
        Level::Warn => tracing::level_filters::LevelFilter::WARN,
        Level::Info => tracing::level_filters::LevelFilter::INFO,
        Level::Debug => tracing::level_filters::LevelFilter::DEBUG,
    };
    // Nothing can be done about a closed standard error, least of all there.
    tracing_subscriber::fmt()
        .log_internal_errors(false)
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_max_level(level)
        .with_writer(io::stderr)
        .init();
}

/// A file that may not grow any more (`LimitFSIZE`): signal(7), the same number on every architecture but MIPS and PA-RISC.
const SIGXFSZ: i32 = 25;

async fn serve(config: Config) -> io::Result<ExitCode> {
    // Heard, so that it does not end the process: a write that fails is an answer of its own.
    let _too_large = signal(SignalKind::from_raw(SIGXFSZ))?;
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let (connections, shutdown) = (config.connections.clone(), config.shutdown.clone());
    let (listen, admin, watch_every) = (config.listen, config.admin, config.watch.0);
    let state = match State::new(config) {
        Ok(state) => Arc::new(state),
        Err(error) => return Ok(say(&format!("scanner-http: {error}"), WRONG)),
    };
    let open = state.open_connections();
    let service = Server::bind(listen, router(state.clone()), &connections, open.clone())?;
    let mut few = connections.clone();
    few.most = few.most.min(ADMIN_CONNECTIONS);
    let watched = Server::bind(admin, admin_router(state.clone()), &few, open)?;
    tracing::info!(address = %service.address()?, admin = %watched.address()?, version = env!("CARGO_PKG_VERSION"), "listening");

    tokio::spawn(tell_isolation(state.clone()));
    tokio::spawn(reload(state.clone(), signal(SignalKind::hangup())?, watch_every));

    let (end, ends) = watch::channel(false);
    let (admin_end, admin_ends) = watch::channel(false);
    let finish = shutdown.clone();
    let mut serving = tokio::spawn(async move { service.run(ends, &finish).await });
    let finish = shutdown.clone();
    tokio::spawn(async move { watched.run(admin_ends, &finish).await });

    either(&mut terminate, &mut interrupt).await;
    tracing::info!("ending");
    state.close();
    let ended = async {
        sleep(shutdown.grace.0).await;
        // Nobody listens only when the server is gone already.
        let _ = end.send(true);
        (&mut serving).await.unwrap_or(false)
    };
    let code = tokio::select! {
        finished = ended => if finished {
            ExitCode::SUCCESS
        } else {
            tracing::error!("out of time: requests under way were cut off");
            ExitCode::FAILURE
        },
        () = either(&mut terminate, &mut interrupt) => {
            tracing::warn!("asked twice: requests under way were cut off");
            ExitCode::FAILURE
        }
    };
    let _ = admin_end.send(true);
    tracing::info!("ended");
    Ok(code)
}

/// Says once what holds the workers, and what the kernel lacks for it; and why there are none, while that is so.
async fn tell_isolation(state: Arc<State>) {
    let mut told = None;
    loop {
        match state.pool.isolation() {
            Some(Ok(isolation)) => {
                match isolation.lacks() {
                    None => tracing::info!(%isolation, "workers are isolated"),
                    Some(lacking) => tracing::warn!(
                        %isolation,
                        lacking,
                        "this kernel lacks something that should hold workers (workers.strict refuses to run so)"
                    ),
                }
                return;
            }
            Some(Err(death)) if told.as_ref() != Some(&death) => {
                tracing::error!(why = %scanner_core::visible(&death.detail), "a worker does not answer");
                told = Some(death);
            }
            _ => {}
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Reads rules and policies again on SIGHUP and, where that is set, whenever they were changed.
async fn reload(state: Arc<State>, mut hangup: Signal, every: Duration) {
    loop {
        let asked = if every.is_zero() {
            hangup.recv().await.is_some()
        } else {
            tokio::select! {
                asked = hangup.recv() => asked.is_some(),
                () = sleep(every) => false,
            }
        };
        let reloading = state.clone();
        match tokio::task::spawn_blocking(move || reloading.reload()).await {
            Ok(Ok((rules, changed))) if changed || asked => {
                tracing::info!(rules, changed, "rules and policies were read")
            }
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                tracing::error!(why = %scanner_core::visible(&error.to_string()), "rules and policies stay as they were");
            }
            Err(error) => tracing::error!(error = %error, "reload"),
        }
    }
}

async fn either(a: &mut Signal, b: &mut Signal) {
    tokio::select! {
        _ = a.recv() => {}
        _ = b.recv() => {}
    }
}
