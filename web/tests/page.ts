// A browser's page on which a blocked script, an error or a violation of the policy fails the test.
import AxeBuilder from "@axe-core/playwright";
import { type APIRequestContext, type Page, test as base, expect } from "@playwright/test";

export { expect };

export const test = base.extend<{ page: Page }>({
  page: async ({ page }, use) => {
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("dialog", (dialog) => {
      faults.push(`a script ran: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      if (/Content Security Policy|TrustedHTML|Trusted Type/i.test(message.text())) faults.push(message.text());
    });
    await use(page);
    expect(faults).toEqual([]);
  },
});

export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.target.join(" ")).join(", ")}`)).toEqual([]);
}

export async function ingest(request: APIRequestContext, collection: string, documents: object[]): Promise<void> {
  const response = await request.post("/v1/documents?wait=true", { data: { collection, documents } });
  expect(await response.json()).toMatchObject({ state: "succeeded" });
}

export async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel("Question").fill(question);
  await page.getByRole("button", { name: "Ask", exact: true }).click();
}

/** Server-sent events as the service writes them. */
export function stream(...events: [string, object][]): string {
  return events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("");
}
