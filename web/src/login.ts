// Logging in at the identity provider of the deployment: OpenID Connect, authorization code with PKCE, in the browser alone.
// The token stays in memory, so a page that is loaded anew logs in anew, which the provider mostly does without asking.
import { signal } from "@preact/signals";
import type { AuthorizationServer } from "oauth4webapi";
import { useCredential } from "./api";

interface Login {
  issuer: string;
  client_id: string;
  scope: string;
  parameters: string;
}

/** A log-in that was begun: what its reply is held against, and where the page was. */
interface Begun {
  state: string;
  nonce: string;
  verifier: string;
  hash: string;
}

const BEGUN_KEY = "cited-login";

/** How to log in; null where people enter keys. */
export const login = signal<Login | null>(null);
/** Why the last log-in failed. */
export const loginFault = signal("");

export async function loadLogin(): Promise<void> {
  const response = await fetch("/login.json").catch(() => null);
  if (response?.ok) login.value = (await response.json()) as Login | null;
}

const library = () => import("./oauth");
type Library = Awaited<ReturnType<typeof library>>;

/** The provider may be on this machine, without TLS. */
const options = (oauth: Library, { issuer }: Login) => ({ [oauth.allowInsecureRequests]: new URL(issuer).protocol === "http:" });

/** The address to which the provider sends people back. */
const redirectUri = () => `${location.origin}/`;

async function provider(oauth: Library, wanted: Login): Promise<AuthorizationServer> {
  const issuer = new URL(wanted.issuer);
  const found = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options(oauth, wanted)));
  const { authorization_endpoint: authorization, token_endpoint: token } = found;
  if (!authorization || !token) throw new Error("the provider names no address for it");
  if (new URL(token).origin !== issuer.origin) throw new Error(`the provider gives tokens at ${new URL(token).origin}, and this page may send to ${issuer.origin} only`);
  return found;
}

/** Leaves the page for that of the provider. */
export async function logIn(wanted: Login): Promise<void> {
  try {
    const oauth = await library();
    const url = new URL((await provider(oauth, wanted)).authorization_endpoint ?? "");
    const begun: Begun = { state: oauth.generateRandomState(), nonce: oauth.generateRandomNonce(), verifier: oauth.generateRandomCodeVerifier(), hash: location.hash };
    const { client_id, scope, parameters } = wanted;
    const challenge = await oauth.calculatePKCECodeChallenge(begun.verifier);
    const sent = { response_type: "code", client_id, scope, redirect_uri: redirectUri(), state: begun.state, nonce: begun.nonce, code_challenge: challenge, code_challenge_method: "S256" };
    for (const [name, value] of [...new URLSearchParams(parameters), ...Object.entries(sent)]) url.searchParams.set(name, value);
    sessionStorage.setItem(BEGUN_KEY, JSON.stringify(begun));
    location.assign(url);
  } catch (error) {
    loginFault.value = faultOf(error);
  }
}

/** Ends the log-in whose reply is in the address, if one is. */
export async function endLogIn(wanted: Login): Promise<void> {
  const reply = new URL(location.href);
  if (!reply.searchParams.has("state")) return;
  const stored = sessionStorage.getItem(BEGUN_KEY);
  sessionStorage.removeItem(BEGUN_KEY);
  const begun = stored ? (JSON.parse(stored) as Begun) : null;
  history.replaceState(null, "", `/${begun?.hash ?? ""}`);
  try {
    if (!begun) throw new Error("it was not begun in this tab");
    useCredential({ kind: "token", secret: await tokenFor(wanted, begun, reply) });
  } catch (error) {
    loginFault.value = faultOf(error);
  }
}

async function tokenFor(wanted: Login, begun: Begun, reply: URL): Promise<string> {
  const oauth = await library();
  const client = { client_id: wanted.client_id };
  const server = await provider(oauth, wanted);
  const parameters = oauth.validateAuthResponse(server, client, reply, begun.state);
  const response = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), parameters, redirectUri(), begun.verifier, {
    ...options(oauth, wanted),
    additionalParameters: new URLSearchParams(wanted.parameters),
  });
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: begun.nonce, requireIdToken: true });
  return tokens.access_token;
}

function faultOf(error: unknown): string {
  const told = error instanceof Error && "error_description" in error ? String(error.error_description) : "";
  return `You are not logged in: ${told || (error instanceof Error ? error.message : String(error))}.`;
}
