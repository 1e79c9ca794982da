// Logging in at an identity provider, in a browser, against a service that takes its tokens.
import { type Page } from "@playwright/test";
import { AUDIENCE, CLIENT_ID, ISSUER, Issuer } from "./issuer";
import { expect, expectAccessible, test } from "./page";

const BASE = "http://127.0.0.1:8398";
let issuer: Issuer;

test.beforeEach(async () => {
  issuer = new Issuer();
  await issuer.start();
});
test.afterEach(() => issuer.stop());

async function logIn(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Log in at 127.0.0.1:8397" }).click();
}

const kept = (page: Page) => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));

test("people log in, and the token stays in memory", async ({ page }) => {
  await page.goto(`${BASE}/#/documents`);
  const dialog = page.getByRole("dialog", { name: "Log in, or enter a key" });
  await expect(dialog).toBeVisible();
  await expectAccessible(page);
  await logIn(page);
  await expect(page.getByRole("heading", { name: "Documents" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Log out" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Keys" })).toBeVisible();
  expect(page.url()).toBe(`${BASE}/#/documents`);
  expect(await kept(page)).toBe("[{},{},\"\"]");
  const asked = issuer.asked[0]!;
  expect(Object.fromEntries(asked)).toMatchObject({ response_type: "code", client_id: CLIENT_ID, scope: "openid ask", resource: AUDIENCE, code_challenge_method: "S256", redirect_uri: `${BASE}/` });
  for (const name of ["state", "nonce", "code_challenge"]) expect(asked.get(name)!.length).toBeGreaterThan(40);
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await expect(dialog).toBeVisible();
});

test("who may less sees less", async ({ page }) => {
  issuer.scope = "ask";
  await page.goto(BASE);
  await logIn(page);
  await expect(page.getByRole("button", { name: "Log out" })).toBeVisible();
  await expect(page.getByLabel("Views").getByRole("link")).toHaveText(["Ask"]);
});

for (const [what, reply] of [["another state", { state: "made-up" }], ["another issuer", { iss: "http://127.0.0.1:1" }], ["a code that is not good", { code: "made-up" }], ["a refusal", { error: "access_denied", error_description: "Ann said no" }]] as const) {
  test(`a reply with ${what} logs nobody in`, async ({ page }) => {
    issuer.reply = reply;
    await page.goto(BASE);
    await logIn(page);
    await expect(page.getByRole("alert")).toContainText("You are not logged in");
    expect(page.url()).toBe(`${BASE}/`);
    expect(issuer.given).toEqual([]);
    expect(await kept(page)).toBe("[{},{},\"\"]");
  });
}

for (const [what, claims] of [["another nonce", { nonce: "made-up" }], ["no nonce", { nonce: undefined }], ["another audience", { aud: "another-page" }], ["another issuer", { iss: "http://127.0.0.1:1" }], ["a past end", { exp: 1 }]] as const) {
  test(`an ID token with ${what} logs nobody in`, async ({ page }) => {
    issuer.idClaims = claims;
    await page.goto(BASE);
    await logIn(page);
    await expect(page.getByRole("alert")).toContainText("You are not logged in");
    expect(issuer.given).toHaveLength(1);
    await expect(page.getByRole("button", { name: "Log in", exact: true })).toBeVisible();
  });
}

test("a reply that was not asked for logs nobody in", async ({ page }) => {
  await page.goto(`${BASE}/?code=stolen&state=made-up&iss=${encodeURIComponent(ISSUER)}`);
  await expect(page.getByRole("alert")).toContainText("it was not begun in this tab");
  expect(page.url()).toBe(`${BASE}/`);
});

test("a log-in that has ended is asked for anew", async ({ page }) => {
  await page.goto(BASE);
  await logIn(page);
  await expect(page.getByRole("button", { name: "Log out" })).toBeVisible();
  await page.route("**/v1/collections*", (route) => route.fulfill({ status: 401, contentType: "application/problem+json", json: { code: "unauthorized", status: 401, title: "t", detail: "d", type: "t" } }), { times: 1 });
  await page.goto(`${BASE}/#/documents`);
  await page.getByLabel("Collection", { exact: true }).fill("late");
  await page.locator("input[type=file]").setInputFiles([{ name: "a.md", mimeType: "text/markdown", buffer: Buffer.from("# A\n\nSome words.") }]);
  await expect(page.getByRole("alert")).toContainText("Your log-in has ended");
});

test("the page may send to itself and to the provider", async ({ request }) => {
  const policy = (await request.get(BASE)).headers()["content-security-policy"]!;
  expect(policy).toMatch(new RegExp(`connect-src 'self' ${ISSUER}$`));
  const ofCitations = (await request.get(`${BASE}/c/x`, { headers: { Accept: "text/html" } })).headers()["content-security-policy"]!;
  expect(ofCitations).toMatch(/connect-src 'self'$/);
});
