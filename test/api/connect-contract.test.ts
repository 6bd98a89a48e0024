import { afterAll, beforeAll, expect, test } from "vitest";
import { connectByContract } from "../harness/chat/contract-client.ts";
import { type SiteVisitor, signUpVisitor, visitorSettings } from "../harness/site/site-visitor.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

let gateway: TestGateway;
let visitor: SiteVisitor;

beforeAll(async () => {
  gateway = await startGateway({ settings: visitorSettings });
  ({ visitor } = await signUpVisitor(gateway));
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Acts as a browser with a person: follows the entry, answers, and goes to the callback. */
async function answerInBrowser(url: string, answer: "approve" | "deny"): Promise<void> {
  const entry = await fetch(url, { redirect: "manual" });
  const id = (entry.headers.get("location") ?? "").split("/").at(-1);
  const { body } = await visitor.post(`/connect/requests/${id}/${answer}`);
  // Another local process that does not know the state gets a response and changes nothing.
  const forged = new URL(body.callback_url);
  forged.searchParams.set("state", "guess");
  expect((await fetch(forged)).status).toBe(404);
  expect((await fetch(body.callback_url)).status).toBe(200);
}

test.each(["127.0.0.1", "localhost"] as const)(
  "a program written from the contract's text alone connects on %s",
  async (host) => {
    const outcome = await connectByContract({
      ...gateway,
      client: "contract-client",
      host,
      openBrowser: (url) => answerInBrowser(url, "approve"),
    });
    expect(outcome).toMatchObject({ kind: "connected", apiKey: expect.stringMatching(/^sk-slc-/) });
    const { body } = await visitor.get("/connected-clients");
    expect(body.data).toMatchObject([{ client: "contract-client" }]);
  },
);

test("the program receives a denial", async () => {
  const outcome = await connectByContract({
    ...gateway,
    client: "refused-client",
    openBrowser: (url) => answerInBrowser(url, "deny"),
  });
  expect(outcome).toEqual({ kind: "refused", error: "access_denied" });
});
