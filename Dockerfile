# syntax=docker/dockerfile:1

# The service alone: it needs a Postgres with pgvector at DATABASE_URL (docker-compose.yml brings one).

# A release names both by digest; see .github/workflows/release.yml.
ARG RUST_IMAGE=rust:1.95-slim-bookworm
ARG RUNTIME_IMAGE=debian:bookworm-slim

# The workspace without its code: manifests, and an empty library in each package.
FROM ${RUST_IMAGE} AS skeleton
WORKDIR /source
COPY . .
RUN find . -name Cargo.toml | while read -r manifest; do \
        package="/skeleton/$(dirname "$manifest")" \
        && mkdir -p "$package/src" && cp "$manifest" "$package" && touch "$package/src/lib.rs" || exit 1; \
    done \
    && cp Cargo.lock /skeleton && echo 'fn main() {}' > /skeleton/src/main.rs


FROM ${RUST_IMAGE} AS build
WORKDIR /build

# The dependencies first, in a layer that lasts until a manifest or Cargo.lock changes.
COPY --from=skeleton /skeleton .
RUN cargo build --release --locked

COPY . .
# Query data is checked in, so no database is needed. Cargo compares times: the files above may be older than the
# stand-ins they replace.
ENV SQLX_OFFLINE=true
RUN touch src/*.rs crates/*/src/lib.rs && cargo build --release --locked --bin cited


FROM ${RUNTIME_IMAGE}

# Certificates are for model servers reached by HTTPS.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --home-dir /nonexistent cited

COPY --from=build /build/target/release/cited /usr/local/bin/cited

USER 10001
# Everybody who reaches the port may try: the service refuses to start like this without CITED_API_KEYS.
ENV CITED_LISTEN=0.0.0.0:8080 \
    CITED_LOG_FORMAT=json
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["cited", "healthcheck"]
ENTRYPOINT ["cited"]
CMD ["serve"]
