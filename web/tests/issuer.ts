// An identity provider that does as it is told: OpenID Connect with authorization code and PKCE, over HTTP.
import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";

export const ISSUER = "http://127.0.0.1:8397";
export const CLIENT_ID = "cited-page";
export const AUDIENCE = "https://cited.example";

interface Grant {
  challenge: string;
  nonce: string;
  redirectUri: string;
}

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const encoded = (data: object) => Buffer.from(JSON.stringify(data)).toString("base64url");

function jwt(typ: string, claims: object): string {
  const message = `${encoded({ typ, alg: "ES256", kid: "a" })}.${encoded(claims)}`;
  return `${message}.${sign("sha256", Buffer.from(message), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

export class Issuer {
  /** Scopes of the tokens that it gives. */
  scope = "ask read ingest admin";
  /** Parameters that its next replies have instead of the right ones. */
  reply: Record<string, string> = {};
  /** Claims that its next ID tokens have instead of the right ones. */
  idClaims: Record<string, unknown> = {};
  /** What was asked of it at its page, and the tokens that it gave. */
  readonly asked: URLSearchParams[] = [];
  readonly given: string[] = [];
  private readonly grants = new Map<string, Grant>();
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  start(): Promise<void> {
    return new Promise((resolve) => this.server.listen(8397, "127.0.0.1", resolve));
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", ISSUER);
    response.setHeader("Access-Control-Allow-Origin", "*");
    const json = (status: number, body: object) => response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        return void json(200, {
          issuer: ISSUER, authorization_endpoint: `${ISSUER}/authorize`, token_endpoint: `${ISSUER}/token`, jwks_uri: `${ISSUER}/keys`,
          response_types_supported: ["code"], id_token_signing_alg_values_supported: ["ES256"], authorization_response_iss_parameter_supported: true, code_challenge_methods_supported: ["S256"],
        });
      case "/keys":
        return void json(200, { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "a", alg: "ES256", use: "sig" }] });
      case "/authorize":
        return void response.writeHead(302, { Location: this.authorize(url.searchParams) }).end();
      case "/token": {
        let body = "";
        for await (const chunk of request) body += chunk;
        const tokens = this.tokens(new URLSearchParams(body));
        return void (tokens ? json(200, tokens) : json(400, { error: "invalid_grant", error_description: "the code is not good" }));
      }
      default:
        return void json(404, {});
    }
  }

  /** The address to send somebody back to who logged in. */
  private authorize(asked: URLSearchParams): string {
    this.asked.push(asked);
    const code = randomUUID();
    const redirectUri = asked.get("redirect_uri") ?? "";
    this.grants.set(code, { challenge: asked.get("code_challenge") ?? "", nonce: asked.get("nonce") ?? "", redirectUri });
    const right = { code, state: asked.get("state") ?? "", iss: ISSUER };
    return `${redirectUri}?${new URLSearchParams({ ...right, ...this.reply })}`;
  }

  /** What a code is exchanged for, once, by who has the verifier. */
  private tokens(asked: URLSearchParams): object | null {
    const grant = this.grants.get(asked.get("code") ?? "");
    this.grants.delete(asked.get("code") ?? "");
    const challenge = createHash("sha256").update(asked.get("code_verifier") ?? "").digest("base64url");
    if (!grant || grant.challenge !== challenge || asked.get("client_id") !== CLIENT_ID || asked.get("redirect_uri") !== grant.redirectUri) return null;
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: ISSUER, sub: "ann", iat: now, exp: now + 300 };
    const access = jwt("at+jwt", { ...claims, aud: AUDIENCE, scope: this.scope });
    this.given.push(access);
    return { access_token: access, token_type: "Bearer", expires_in: 300, id_token: jwt("JWT", { ...claims, aud: CLIENT_ID, nonce: grant.nonce, ...this.idClaims }) };
  }
}
