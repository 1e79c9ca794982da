import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import { AUDIENCE, CLIENT_ID, ISSUER } from "./tests/issuer";

/** An empty folder that the user whom Postgres runs as can reach. */
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "cited-web-"));
  chmodSync(path, 0o711);
  return join(path, "data");
}

/** A service of its own on an empty database, as `cargo build` left it. */
const service = (port: number, settings: Record<string, string>) => ({
  command: `${process.env.CARGO_TARGET_DIR ?? "../target"}/debug/cited serve`,
  url: `http://127.0.0.1:${port}/livez`,
  timeout: 120_000,
  gracefulShutdown: { signal: "SIGTERM" as const, timeout: 20_000 },
  env: {
    CITED_LISTEN: `127.0.0.1:${port}`,
    CITED_DATA_DIR: folder(),
    CITED_LOG: "warn",
    ...settings,
  },
});

export default defineConfig({
  testDir: "tests",
  workers: 1,
  timeout: 60_000,
  reporter: "list",
  use: {
    baseURL: "http://127.0.0.1:8395",
    viewport: { width: 1280, height: 800 },
    launchOptions: { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] },
  },
  webServer: [
    service(8395, {}),
    service(8396, { CITED_API_KEYS: "a-long-enough-key-1" }),
    service(8398, {
      CITED_OIDC_ISSUER: ISSUER,
      CITED_OIDC_AUDIENCE: AUDIENCE,
      CITED_OIDC_CLIENT_ID: CLIENT_ID,
      CITED_OIDC_LOGIN_SCOPE: "openid ask",
      CITED_OIDC_LOGIN_PARAMETERS: new URLSearchParams({ resource: AUDIENCE }).toString(),
    }),
  ],
});
