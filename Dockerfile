# One static program, a user without rights, and nothing else: no shell, no package manager, no library.
#   docker build -t scanner .
#   docker run --rm scanner token                    makes a token; the service needs one beyond loopback
#   compose.yaml                                     runs it, read-only
FROM rust:1.95-slim AS build
WORKDIR /build
COPY . .
# A static program: the last stage holds no C library.
RUN host=$(rustc -vV | sed -n 's/^host: //p') \
 && RUSTFLAGS="-C target-feature=+crt-static" cargo build --locked --profile dist -p scanner-http --target "$host" \
 && install -D "target/$host/dist/scanner-http" /image/scanner-http \
 && install -d -m 1777 /image/tmp

FROM scratch
COPY --from=build /image /
# Above the ids of people and services of any host; no name is needed.
USER 65532:65532
ENV SCANNER__LISTEN=0.0.0.0:8080 SCANNER__ADMIN=0.0.0.0:8081
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["/scanner-http", "health", "127.0.0.1:8081"]
ENTRYPOINT ["/scanner-http"]
