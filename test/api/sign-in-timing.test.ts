import { afterAll, beforeAll, expect, test } from "vitest";
import { signUpVisitor, visitorSettings, visitSite } from "../harness/site-visitor.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ settings: visitorSettings });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const rounds = 30;

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** In turns, so that whatever else the machine does falls on both. */
async function compare(one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, ask] of [one, other].entries()) {
      const startedAt = performance.now();
      await ask();
      times[index]?.push(performance.now() - startedAt);
    }
  }
  return median(times[0]) / median(times[1]);
}

test("a wrong password for somebody and any password for nobody take the same time", async () => {
  const { email } = await signUpVisitor(gateway);
  const ask = (address: string) => () =>
    visitSite(gateway).post("/sign-in", { email: address, password: "not the password" });
  await ask(email)();
  const ratio = await compare(ask(email), ask("nobody@example.com"));
  // Without the hash, nobody would be known ten times faster.
  expect(ratio).toBeGreaterThan(0.6);
  expect(ratio).toBeLessThan(1.6);
});

test("a sign-up takes the same time for a known address", async () => {
  const known = await Promise.all(Array.from({ length: 5 }, () => signUpVisitor(gateway)));
  let number = 0;
  const ask = (getAddress: () => string) => () =>
    visitSite(gateway).post("/sign-up", { email: getAddress(), password: "five other words now" });
  const ratio = await compare(
    ask(() => known[number++ % known.length]?.email ?? ""),
    ask(() => `new-${number++}@example.com`),
  );
  expect(ratio).toBeGreaterThan(0.6);
  expect(ratio).toBeLessThan(1.6);
});
