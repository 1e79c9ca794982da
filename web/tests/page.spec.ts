// The page against a running service, in a browser. The tests follow each other on one database.
import { readFileSync } from "node:fs";
import { ask, expect, expectAccessible, ingest, stream, test } from "./page";

const HOSTILE = `</textarea><img src=x onerror="alert('x')"><script>alert('y')</script>`;
const CARRY_OVER = "How many days of annual leave can I carry over, and when do they lapse?";
/** Pictures for the documentation are taken where this names a folder. */
const pictures = process.env.PICTURES;

test.describe.configure({ mode: "serial" });

test("without documents the page leads to the first answer", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Answers from your own documents" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Load a small sample handbook" }).click();
  await expect(page.getByRole("heading", { name: "Ask your documents" })).toBeVisible({ timeout: 40_000 });
  await expect(page.getByLabel("Question")).toBeFocused();
});

test("asking and reading need no mouse", async ({ page }) => {
  await page.goto("/");
  const tabTo = async (name: RegExp) => {
    for (let presses = 0; presses < 30; presses++) {
      await page.keyboard.press("Tab");
      const said = await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.id ?? "");
      if (name.test(said)) return;
    }
    throw new Error(`the key Tab does not lead to ${name}`);
  };
  await expect(page.getByLabel("Question")).toBeVisible();
  await tabTo(/^question$/);
  await page.keyboard.type("How many days of annual leave can I carry over?");
  await page.keyboard.press("Enter");
  await expect(page.locator(".verdict")).toBeVisible();
  await expect(page.getByLabel("Question")).toBeFocused();
  await tabTo(/^Citation 1/);
  await expect(page.getByRole("tooltip")).toContainText("five unused days");
  await page.keyboard.press("Enter");
  await expect(page.locator(".pane mark").first()).toContainText("five unused days");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Citation 1: Annual leave" })).toBeFocused();
  await page.getByRole("button", { name: "New conversation" }).press("Enter");
  await expect(page.getByLabel("Question")).toBeFocused();
});

test("a claim leads to the exact words in the document", async ({ page }) => {
  await page.goto("/");
  await ask(page, CARRY_OVER);
  const marker = page.getByRole("button", { name: "Citation 1: Annual leave" }).first();
  await marker.hover();
  const card = page.getByRole("tooltip");
  await expect(card).toContainText("Annual leave › Carrying days over");
  await expect(card.locator("blockquote")).toHaveText("You can carry over up to five unused days into the next year.");
  await marker.click();
  const pane = page.getByRole("complementary", { name: "Cited document" });
  await expect(pane.locator("mark.focus")).toHaveText("You can carry over up to five unused days into the next year.");
  await expect(pane).toContainText("Buying and selling days");
  await expect(pane.getByText("current")).toBeVisible();
  await expectAccessible(page);
  if (pictures) await page.screenshot({ path: `${pictures}/page-cited.png` });

  await page.keyboard.press("]");
  await expect(pane.locator("mark.focus")).toHaveText("Carried days must be taken by 31 March; after that they lapse.");
  await page.keyboard.press("[");
  await expect(pane.locator("mark.focus")).toContainText("five unused days");
  await page.keyboard.press("Escape");
  await expect(pane).toBeHidden();
  await expect(marker).toBeFocused();
  await page.getByText("How this came about").click();
  await expect(page.getByRole("group", { name: "Grades of round 1" })).toContainText("correct");
});

test("a follow-up is read as a question that stands alone", async ({ page }) => {
  await page.goto("/");
  await ask(page, "How long are access logs kept?");
  await expect(page.locator(".verdict")).toBeVisible();
  await ask(page, "And who can read them?");
  await expect(page.locator(".turn").nth(1).locator(".read-as").first()).toContainText("logs");
});

test("a conversation is there after the page was loaded anew, until a new one is begun", async ({ page }) => {
  await page.goto("/");
  await ask(page, CARRY_OVER);
  await expect(page.locator(".verdict")).toBeVisible();
  await page.reload();
  await expect(page.locator(".turn h2")).toHaveText(CARRY_OVER);
  await expect(page.getByRole("button", { name: "Citation 1: Annual leave" }).first()).toBeVisible();
  await ask(page, "And how many days can I buy?");
  await expect(page.locator(".read-as").last()).toContainText("Read as:");
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Ask your documents" })).toBeVisible();
});

test("a question that failed is asked again without typing", async ({ page }) => {
  await page.goto("/");
  await page.route("**/v1/ask", (route) => route.abort(), { times: 1 });
  await page.getByLabel("Question").fill(CARRY_OVER);
  await page.getByLabel("Question").press("Enter");
  await expect(page.getByRole("alert")).toContainText("The service cannot be reached");
  await page.getByRole("button", { name: "Ask again" }).click();
  await expect(page.locator(".verdict")).toBeVisible();
  await expect(page.locator(".turn")).toHaveCount(1);
});

test("an abstention names what is unknown and shows the closest passages", async ({ page }) => {
  await page.goto("/");
  await ask(page, "Who won the chess cup of 1913?");
  const abstained = page.locator(".abstention");
  await expect(abstained.getByRole("heading", { name: "No answer found in these documents" })).toBeVisible();
  await expect(abstained).toContainText("chess");
  await expectAccessible(page);
  await abstained.locator(".sources button").first().click();
  await expect(page.locator(".pane .passage")).toBeVisible();
});

test("a table among the closest passages is told in words", async ({ page }) => {
  await page.goto("/");
  await ask(page, "How long are support tickets kept in Norway?");
  const excerpts = page.locator(".abstention .excerpt");
  await expect(excerpts.filter({ hasText: "Birth or adopting parent · 26 weeks" })).toHaveCount(1);
  for (const excerpt of await excerpts.allTextContents()) expect(excerpt).not.toMatch(/\||---/);
});

test("the list of collections closes by Escape, by a press beside it and when the focus leaves it", async ({ page }) => {
  await page.goto("/");
  const summary = page.locator(".choice summary");
  const fieldset = page.getByRole("group", { name: "Collections to ask" });
  const open = async () => {
    await summary.click();
    await expect(fieldset).toBeVisible();
  };
  await open();
  const label = fieldset.locator("label").first();
  await label.click();
  await expect(summary).toHaveText("In No collection chosen");
  await label.click();
  await expect(summary).toHaveText("In handbook");
  await page.keyboard.press("Escape");
  await expect(fieldset).toBeHidden();
  await expect(summary).toBeFocused();
  await open();
  await page.getByRole("heading", { name: "Ask your documents" }).click();
  await expect(fieldset).toBeHidden();
  await open();
  await page.getByLabel("Question").focus();
  await expect(fieldset).toBeHidden();
});

test("several passages are shown as such, and a misspelt word is read as it was meant", async ({ page }) => {
  await page.goto("/");
  await ask(page, "How do I report a lost laptop?");
  await expect(page.getByText("No sentence of these documents surely answers this. These passages say most about it, word for word.")).toBeVisible();
  // Of neighbouring sentences of one source the last one has the number.
  await expect(page.locator(".marker.goes-on").first()).toBeVisible();
  await expect(page.locator(".marker.goes-on:last-of-type")).toHaveCount(0);
  await ask(page, "How many days of anual leave can I carry over?");
  await expect(page.locator(".turn").nth(1).locator(".verdict, .abstention")).toBeVisible();
  await expect(page.locator(".turn").nth(1).locator(".read-as")).toHaveText("Read “anual” as “annual”.");
});

test("files are uploaded, and a failure tells its cause", async ({ page }) => {
  await page.goto("/#/documents");
  await page.getByLabel("Collection", { exact: true }).fill("uploads");
  await page.locator("input[type=file]").setInputFiles([
    { name: "bicycles.md", mimeType: "text/markdown", buffer: Buffer.from("# Bicycles\n\nBicycles stand in the yard.") },
    { name: `${HOSTILE}.md`, mimeType: "text/markdown", buffer: Buffer.from(`# ${HOSTILE}\n\nThe zebra has 44 stripes ${HOSTILE}.`) },
    { name: "empty.txt", mimeType: "text/plain", buffer: Buffer.from("") },
  ]);
  const job = page.locator(".job").first();
  await expect(job).toContainText("done in part", { timeout: 40_000 });
  await expect(job.locator(".failure")).toContainText("empty.txt");
  await expect(job.locator(".failure code")).toHaveText("empty");
  await page.getByRole("button", { name: "uploads 2" }).click();
  await expect(page.getByRole("cell", { name: "bicycles.md" })).toBeVisible();
  await expectAccessible(page);
  if (pictures) await page.screenshot({ path: `${pictures}/page-documents.png` });
});

test("text of documents, titles and file names stays text", async ({ page }) => {
  await page.goto("/");
  await ask(page, "How many stripes has the zebra?");
  const marker = page.locator(".marker").first();
  await marker.hover();
  await marker.click();
  await expect(page.locator(".pane mark").first()).toContainText("zebra");
  expect(await page.locator("#app img, #app script").count()).toBe(0);
  const link = await page.locator(".pane").evaluate(() => document.querySelector(".pane")?.textContent);
  expect(link).toContain("onerror");
});

test("names are shown in the order that they have, without what nobody sees", async ({ page, request }) => {
  const [source, title] = ["cod.\u202efdp\u202c.md", "Pay\u200b slip \u{e0041}of \u2067June"];
  await ingest(request, "names", [{ source, title, text: "The slip of June has a stamp." }]);
  const stored = await (await request.get("/v1/documents?collection=names")).json();
  expect([stored.documents[0].source, stored.documents[0].title]).toEqual([source, title]);
  await page.goto("/#/documents");
  await page.getByRole("button", { name: "names 1" }).click();
  await expect(page.getByRole("cell", { name: "cod.fdp.md", exact: true })).toBeVisible();
  await expect(page.getByRole("cell", { name: "Pay slip of June", exact: true })).toBeVisible();
  const found = await (await request.post("/v1/search", { data: { query: "stamp", collections: ["names"] } })).json();
  await page.goto(`/c/${encodeURIComponent(found.results[0].urn)}`);
  expect(await page.locator("h1").textContent()).toBe("Pay slip of June");
  await expect(page.locator(".facts")).toContainText("cod.fdp.md");
});

test("files can be dropped", async ({ page }) => {
  await page.goto("/#/documents");
  await page.getByLabel("Collection", { exact: true }).fill("dropped");
  const files = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["Keys hang beside the door."], "keys.txt", { type: "text/plain" }));
    return transfer;
  });
  await page.dispatchEvent(".zone", "drop", { dataTransfer: files });
  await expect(page.locator(".job").first()).toContainText("done", { timeout: 40_000 });
});

test("deleting asks first", async ({ page }) => {
  await page.goto("/#/documents");
  await page.getByRole("button", { name: /^dropped/ }).click();
  await page.getByRole("button", { name: "Delete the collection" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("button", { name: "Delete the collection" })).toBeFocused();
  await page.getByRole("button", { name: /^Delete keys/ }).click();
  await expectAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("Deleted: 1 document")).toBeFocused();
  await expect(page.getByRole("button", { name: "dropped 0" })).toBeVisible();
  await page.getByRole("button", { name: "Delete the collection" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("Deleted: 0 documents")).toBeFocused();
  await expect(page.getByRole("button", { name: /^dropped/ })).toHaveCount(0);
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("the page of a citation works without script", async ({ browser, request }) => {
  await ingest(request, "moving", [{ source: "leave.md", text: "# Leave\n\nEveryone has 28 days of paid leave a year." }]);
  const found = await (await request.post("/v1/search", { data: { query: "paid leave", collections: ["moving"] } })).json();
  const path = `/c/${encodeURIComponent(found.results[0].urn)}`;
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(path);
  await expect(page.locator("mark")).toContainText("28 days");
  await ingest(request, "moving", [{ source: "leave.md", text: "# Leave\n\nEveryone has 30 days of paid leave a year." }]);
  await page.reload();
  await expect(page.locator("del")).toHaveText("28");
  await expect(page.locator("ins")).toHaveText("30");
  if (pictures) await page.screenshot({ path: `${pictures}/page-superseded.png`, clip: { x: 0, y: 0, width: 1280, height: 480 } });
  await context.close();
  const withScript = await (await browser.newContext()).newPage();
  await withScript.goto(path);
  await expectAccessible(withScript);
  await withScript.context().close();
});

test("a narrow screen has everything, and nothing wider than itself", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto("/");
  await ask(page, CARRY_OVER);
  await page.locator(".marker").first().click();
  await expect(page.locator(".pane mark").first()).toBeVisible();
  await expectAccessible(page);
  if (pictures) await page.screenshot({ path: `${pictures}/page-narrow.png` });
  await page.getByRole("button", { name: "Close the document" }).click();
  const box = async (selector: string) => (await page.locator(selector).boundingBox())!;
  expect((await box(".ask-box .primary")).y).toBe((await box(".ask-box .link")).y);
  for (const view of ["", "documents", "activity", "keys"]) {
    await page.goto(`/#/${view}`);
    await page.waitForTimeout(300);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await page.locator(".bar nav").evaluate((nav) => nav.scrollWidth - nav.clientWidth)).toBe(0);
    if (view === "documents") {
      const [zone, field] = [await box(".zone"), await box(".zone .field")];
      expect(field.x).toBeGreaterThanOrEqual(zone.x);
      expect(field.x + field.width).toBeLessThanOrEqual(zone.x + zone.width);
      await page.getByRole("button", { name: /^handbook/ }).click();
      const remove = await box("tr:first-child .danger");
      expect(remove.x + remove.width).toBeLessThanOrEqual(360);
    }
    await expectAccessible(page);
  }
});

test("a key is asked for, refused, accepted and forgotten", async ({ page }) => {
  await page.goto("http://127.0.0.1:8396/");
  const dialog = page.getByRole("dialog", { name: "This service needs a key" });
  await dialog.getByLabel("Key").fill("a-wrong-key-of-16");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Use the key" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("The service does not know this key.");
  await dialog.getByLabel("Key").fill("a-long-enough-key-1");
  await dialog.getByRole("button", { name: "Use the key" }).click();
  await expect(page.getByRole("heading", { name: "Answers from your own documents" })).toBeVisible();
  expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]))).not.toContain("a-long-enough");
  await page.reload();
  await expect(dialog).toBeVisible();
});

test("a link to a citation leads through the key to the citation", async ({ page, request }) => {
  const base = "http://127.0.0.1:8396";
  const headers = { Authorization: "Bearer a-long-enough-key-1" };
  const documents = [{ source: "keys.md", text: "# Keys\n\nKeys hang beside the door." }];
  await request.post(`${base}/v1/documents?wait=true`, { headers, data: { collection: "office", documents } });
  const found = await (await request.post(`${base}/v1/search`, { headers, data: { query: "keys", collections: ["office"] } })).json();
  await page.goto(`${base}/c/${encodeURIComponent(found.results[0].urn)}`);
  await expectAccessible(page);
  await page.getByRole("link", { name: "Enter a key and open the citation" }).click();
  const dialog = page.getByRole("dialog", { name: "This service needs a key" });
  await dialog.getByLabel("Key").fill("a-long-enough-key-1");
  await dialog.getByLabel("Keep it until this tab is closed").check();
  await dialog.getByRole("button", { name: "Use the key" }).click();
  await expect(page.locator(".pane .passage")).toContainText("Keys hang beside the door.");
  await page.reload();
  await expect(page.locator(".pane .passage")).toContainText("Keys hang beside the door.");
  await page.getByRole("button", { name: "Close the document" }).click();
  await page.getByRole("button", { name: "Forget the key" }).click();
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
});

test("keys are made, shown once and revoked", async ({ page, request }) => {
  await page.goto("/#/keys");
  await page.getByText("Create a key").click();
  await page.getByLabel("Name").fill("the bot");
  await page.getByLabel("Collections").fill("handbook, office");
  await page.getByLabel("Until").fill("2099-12-31");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create the key" }).click();
  const issued = page.getByRole("region", { name: "New key" });
  const secret = await issued.locator("code").innerText();
  expect(secret).toMatch(/^cited_[0-9a-f]{16}_/);
  const row = page.getByRole("row", { name: /the bot/ });
  await expect(row).toContainText("handbook, office");
  await expect(row).toContainText("valid");
  await expectAccessible(page);
  if (pictures) await page.screenshot({ path: `${pictures}/page-keys.png` });
  const opens = async () => (await request.get("/v1/collections", { headers: { Authorization: `Bearer ${secret}` } })).status();
  expect(await opens()).toBe(200);
  await page.reload();
  await expect(row).toBeVisible();
  await expect(page.locator("body")).not.toContainText(secret);
  await row.getByRole("button", { name: "Revoke the bot" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(row).toContainText("revoked");
  await expect.poll(opens).toBe(401);
});

test("a key sees what its scopes open", async ({ browser, request }) => {
  const base = "http://127.0.0.1:8396";
  const headers = { Authorization: "Bearer a-long-enough-key-1" };
  const views = { ask: ["Ask"], read: ["Documents"], ingest: ["Documents"], admin: ["Ask", "Documents", "Activity", "Keys"] };
  for (const [scope, names] of Object.entries(views)) {
    const made = await (await request.post(`${base}/v1/keys`, { headers, data: { name: `may ${scope}`, scopes: [scope] } })).json();
    const page = await browser.newPage();
    await page.goto(base);
    await page.getByRole("dialog").locator("input[type=password]").fill(made.secret);
    await page.getByRole("button", { name: "Use the key" }).click();
    await expect(page.getByLabel("Views").getByRole("link")).toHaveText(names);
    await page.goto(`${base}/#/documents`);
    const isOpen = names.includes("Documents");
    const mayChange = scope === "ingest" || scope === "admin";
    await expect(page.getByRole("heading", { name: "Documents", exact: true })).toHaveCount(isOpen ? 1 : 0);
    await expect(page.getByRole("button", { name: "Delete the collection" })).toHaveCount(mayChange ? 1 : 0);
    await expect(page.getByText("Drop files here")).toHaveCount(mayChange ? 1 : 0);
    await page.close();
  }
});

test("a key that may only ask is shown the passage of a citation", async ({ page, request }) => {
  const base = "http://127.0.0.1:8396";
  const headers = { Authorization: "Bearer a-long-enough-key-1" };
  const documents = [{ source: "lamps.md", text: "# Lamps\n\nLamps stand below the stairs." }];
  await request.post(`${base}/v1/documents?wait=true`, { headers, data: { collection: "office", documents } });
  const found = await (await request.post(`${base}/v1/search`, { headers, data: { query: "lamps", collections: ["office"] } })).json();
  const made = await (await request.post(`${base}/v1/keys`, { headers, data: { name: "asks", scopes: ["ask"] } })).json();
  const refused = page.waitForResponse((response) => response.url().endsWith("/content"));
  await page.goto(`${base}/c/${encodeURIComponent(found.results[0].urn)}`);
  await page.getByRole("link", { name: "Enter a key and open the citation" }).click();
  const dialog = page.getByRole("dialog", { name: "This service needs a key" });
  await dialog.getByLabel("Key").fill(made.secret);
  await dialog.getByRole("button", { name: "Use the key" }).click();
  await expect(page.locator(".pane .passage")).toContainText("Lamps stand below the stairs.");
  expect((await refused).status()).toBe(403);
  await expect(page.locator(".pane").getByRole("alert")).toHaveCount(0);
  // The key is in memory only, and so is what was answered to it.
  await page.goto(`${base}/#/`);
  await ask(page, "Where do lamps stand?");
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  await page.getByRole("button", { name: "Forget the key" }).click();
  await expect(page.locator(".turn")).toHaveCount(0);
});

test("a key without a scope is refused with what to do", async ({ page }) => {
  await page.goto("/#/keys");
  await page.getByText("Create a key").click();
  await page.getByLabel("Name").fill("nobody");
  await page.getByRole("checkbox", { name: /^ask/ }).uncheck();
  await page.getByRole("button", { name: "Create the key" }).click();
  await expect(page.getByRole("alert")).toContainText("/scopes name one or more of ask, ingest, read, admin");
});

test("usage is summed by key", async ({ page, request }) => {
  await request.post("/v1/ask", { data: { question: "How long are access logs kept?", collections: ["handbook"] } });
  await page.goto("/#/activity");
  const usage = page.getByRole("group", { name: "Usage" });
  await expect(usage.getByRole("row", { name: /^no key/ })).toBeVisible();
  const [questions] = await usage.getByRole("row", { name: /^All/ }).getByRole("cell").allInnerTexts();
  expect(Number(questions)).toBeGreaterThan(0);
  await expect(page.getByRole("group", { name: "Questions" }).getByRole("row", { name: /access logs/ }).first()).toBeVisible();
  await expectAccessible(page);
});

test.describe("what a model may do to a stream", () => {
  const claim = "Everyone has 28 days of leave.";
  const source = { ...JSON.parse(readFileSync(new URL("source.json", import.meta.url), "utf8")), text: claim };
  const citation = { marker: 1, span: [31, 35], claim: [0, 30], source_index: 0, urn: source.urn, support: 0.9, quote: { text: claim, start: 0, end: 30 } };
  const finding = { kind: "uncited_claim", detail: "no marker covers “Leave is unlimited.”", marker: null, span: [0, 19] };

  test("drafts are provisional until their claims are confirmed, and withdrawn ones are struck", async ({ page }) => {
    const parts = [
      stream(["sources", { sources: [source] }], ["token", { text: "Leave is unlimited." }]),
      stream(["retry", { reason: "citation_validation", errors: [finding] }], ["token", { text: `${claim} [^1] It is` }]),
      stream(["claim", { span: [0, 30], markers: [1], support: 0.9, citations: [citation] }]),
    ];
    // The body is told piece by piece, as a model writes it.
    await page.addInitScript((pieces: string[]) => {
      const original = window.fetch;
      const gates = pieces.map(() => Promise.withResolvers<void>());
      Object.assign(window, { tell: (at: number) => gates[at]?.resolve() });
      window.fetch = (path, init) => {
        if (path !== "/v1/ask") return original(path, init);
        const body = new ReadableStream({
          async start(controller) {
            for (const [at, piece] of pieces.entries()) {
              await gates[at]?.promise;
              controller.enqueue(new TextEncoder().encode(piece));
            }
          },
        });
        return Promise.resolve(new Response(body));
      };
    }, parts);
    const tell = (at: number) => page.evaluate((place) => (window as unknown as { tell: (at: number) => void }).tell(place), at);
    await page.goto("/");
    await ask(page, "How much leave?");
    await tell(0);
    await expect(page.locator(".draft")).toHaveText("Leave is unlimited.");
    await tell(1);
    await expect(page.locator(".voided del")).toHaveText("Leave is unlimited.");
    await expect(page.locator(".voided")).toContainText("no marker covers");
    await expect(page.locator(".draft").first()).toHaveText(`${claim} `);
    await expect(page.locator(".marker")).toHaveCount(0);
    await tell(2);
    await expect(page.locator(".marker")).toHaveCount(1);
    await expect(page.locator(".draft")).toHaveText(" It is");
    await expect(page.locator("[aria-live=polite]")).toHaveText(claim);
  });

  test("an answer of a model stays text", async ({ page }) => {
    const hostile = `# ${HOSTILE}\n\n- ${HOSTILE} [^1]\n- [leave](javascript:alert(1)) ![x](https://evil.example/x.png)\n\n| a |\n|---|\n| ${HOSTILE} |\n\n\`\`\`\n${HOSTILE}\n\`\`\``;
    const events = stream(["sources", { sources: [{ ...source, title: HOSTILE, uri: "javascript:alert(1)", heading: [HOSTILE] }] }], ["token", { text: hostile }]);
    await page.route("/v1/ask", (route) => route.fulfill({ contentType: "text/event-stream", body: events }));
    await page.goto("/");
    await ask(page, HOSTILE);
    await expect(page.locator(".prose li").first()).toContainText("onerror");
    expect(await page.locator("#app").locator("img, script, .prose a").count()).toBe(0);
  });

  test("a refusal tells what was wrong with both drafts, and shows no answer", async ({ page }) => {
    const drafts = [{ attempt: 1, errors: [finding] }, { attempt: 2, errors: [{ ...finding, kind: "out_of_range", detail: "[^7] names no source" }] }];
    const problem = { type: "urn:cited:problem:citation_validation", status: 422, code: "citation_validation", title: "t", detail: "d", drafts };
    await page.route("/v1/ask", (route) => route.fulfill({ contentType: "text/event-stream", body: stream(["sources", { sources: [source] }], ["error", problem]) }));
    await page.goto("/");
    await ask(page, "How much leave?");
    const refusal = page.getByRole("alert");
    await expect(refusal).toContainText("Refused");
    await expect(refusal).toContainText("no marker covers");
    await expect(refusal).toContainText("[^7] names no source");
    await expectAccessible(page);
  });

  test("a part without an answer is named, and so is what a question leaves open", async ({ page }) => {
    const zero = { llm_calls: 1, prompt_tokens: 9, completion_tokens: 9, cost_usd: 0, estimated: false };
    const answer = {
      id: "a", outcome: "partial", reason: null, missing: ["who repairs laptops?"], answer: `${claim} [^1]`, citations: [citation], sources: [source],
      evidence: { answerability: 0.9, correct: 1, ambiguous: 0, incorrect: 0 }, model: "m", provider: "p", cache_hit: false, usage: { ...zero, wasted: zero },
      validation: { ok: true, level: "cited", effective_level: "cited", attempts: 1, warnings: [], errors: [] }, timings_ms: { total: 5 },
    };
    const clarify = { ...answer, outcome: "clarify", answer: null, citations: [], sources: [], missing: ["which of the two contracts is meant"] };
    const told = { ...answer, answer: `${claim} [^1]\n\nThe sources do not say: who repairs laptops.` };
    const replies = [answer, clarify, told];
    const asked: unknown[] = [];
    await page.route("/v1/ask", (route) => {
      asked.push(route.request().postDataJSON().messages);
      return route.fulfill({ contentType: "text/event-stream", body: stream(["answer", replies.shift()!]) });
    });
    await page.goto("/");
    await ask(page, "How much leave, and who repairs laptops?");
    await expect(page.locator(".notice")).toContainText("who repairs laptops?");
    await expect(page.locator(".verdict")).toContainText("every claim cited");
    await ask(page, "And the contract?");
    await expect(page.locator(".turn").nth(1).locator(".notice")).toContainText("which of the two contracts is meant");
    await ask(page, "How much leave? Who repairs laptops?");
    await expect(page.locator(".turn").nth(2).locator(".prose").first()).toContainText("The sources do not say");
    // Said once is enough.
    await expect(page.locator(".turn").nth(2).locator(".notice")).toHaveCount(0);
    expect(asked.slice(0, 2)).toEqual([undefined, [
      { role: "user", content: "How much leave, and who repairs laptops?" },
      { role: "assistant", content: `${claim} [^1]` },
      { role: "user", content: "And the contract?" },
    ]]);
  });

  test("an error names its field and what to do", async ({ page }) => {
    const problem = { type: "t", status: 422, code: "invalid_request", title: "The request has wrong values", detail: "d", errors: [{ pointer: "/question", detail: "must not be empty" }] };
    await page.route("/v1/ask", (route) => route.fulfill({ status: 422, contentType: "application/problem+json", json: problem }));
    await page.goto("/");
    await ask(page, "?");
    await expect(page.getByRole("alert")).toContainText("/question must not be empty");
  });

  test("the page speaks of a service that is away", async ({ page }) => {
    await page.route("/v1/ask", (route) => route.abort());
    await page.goto("/");
    await ask(page, "How much leave?");
    await expect(page.getByRole("alert")).toContainText("The service cannot be reached");
  });
});
