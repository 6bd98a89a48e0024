import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approve, askSite, beginRequest, makeAddress, makeVerifier } from "../harness/site/connect-program.ts";
import { type SiteVisitor, signUpVisitor, siteOrigin, visitorSettings } from "../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

const secondMs = 1000;
const minuteMs = 60 * secondMs;

let gateway: TestGateway;
let clock: TestClock;
let visitor: SiteVisitor;

beforeAll(async () => {
  clock = createTestClock();
  gateway = await startGateway({ clock, settings: visitorSettings });
  ({ visitor } = await signUpVisitor(gateway));
});
afterAll(() => gateway[Symbol.asyncDispose]());

type Device = { device_code: string; user_code: string };

async function beginDevice(client = "headless"): Promise<Device> {
  const { status, body } = await askSite(gateway, "/connect/device", { client });
  expect(status).toBe(200);
  return body;
}

function poll({ device_code }: Device, address?: string) {
  return askSite(gateway, "/connect/device/token", { device_code }, address === undefined ? {} : { address });
}

async function pollCode(device: Device): Promise<string> {
  return (await poll(device)).body.error.code;
}

async function lookUp({ user_code }: Pick<Device, "user_code">, by = visitor): Promise<string> {
  const { status, body } = await by.post("/connect/device/lookup", { user_code });
  return status === 200 ? body.request_id : `${status} ${body.error.code}`;
}

async function callApi(key: string): Promise<number> {
  return (await gateway.get("/models", key)).status;
}

/** Approves a device's request; there is no callback. */
async function approveDevice(device: Device, terms: object = {}): Promise<string> {
  const id = await lookUp(device);
  await visitor.get(`/connect/requests/${id}`);
  const answer = await visitor.post(`/connect/requests/${id}/approve`, terms);
  expect(answer).toMatchObject({ status: 200, body: { kind: "device" } });
  expect(Object.keys(answer.body)).toEqual(["kind"]);
  return id;
}

describe("a device", () => {
  test("starts with two codes, the page for the person, and the polling interval", async () => {
    const answer = await askSite(gateway, "/connect/device", { client: "headless" });
    const { user_code } = answer.body;
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.body).toEqual({
      device_code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      verification_uri: `${siteOrigin}/connect/device`,
      verification_uri_complete: `${siteOrigin}/connect/device?user_code=${user_code}`,
      interval: 5,
      expires_in: 600,
    });
  });

  test("gets its key after a person has typed its code and approved", async () => {
    const device = await beginDevice();
    expect(await pollCode(device)).toBe("authorization_pending");
    const id = await lookUp(device);
    expect((await visitor.get(`/connect/requests/${id}`)).body).toMatchObject({
      client: "headless",
      redirect_host: null,
      uses_code: false,
      kind: "device",
    });
    await approveDevice(device, { expires_in_days: 2, budget: "1.5" });
    const state = async () => (await visitor.get(`/connect/requests/${id}/status`)).body.state;
    expect(await state()).toBe("waiting");
    const answer = await poll(device);
    expect(answer).toMatchObject({
      status: 200,
      body: { name: "BA:headless", expires_at: new Date(clock.now().getTime() + 2 * 24 * 60 * minuteMs).toISOString() },
    });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await callApi(answer.body.api_key)).toBe(200);
    expect(await state()).toBe("delivered");
  });

  test("is shown with its network, its time and its self-description", async () => {
    const address = makeAddress();
    const { body: device } = await askSite(gateway, "/connect/device", { client: "headless" }, { address });
    const askedAt = clock.now().toISOString();
    clock.advance(minuteMs);
    const id = await lookUp(device);
    expect((await visitor.get(`/connect/requests/${id}`)).body.asked).toEqual({
      address,
      is_own_address: false,
      user_agent: "node",
      at: askedAt,
    });
    const { user_code } = (
      await askSite(gateway, "/connect/device", { client: "headless" }, { address: visitor.address })
    ).body;
    const near = await visitor.get(`/connect/requests/${await lookUp({ user_code })}`);
    expect(near.body.asked).toMatchObject({ address: visitor.address, is_own_address: true });
    const browsers = await visitor.get(`/connect/requests/${await beginRequest(gateway)}`);
    expect(browsers.body.asked).toBeNull();
  });

  test("may send forms", async () => {
    const type = "application/x-www-form-urlencoded";
    const { body } = await askSite(gateway, "/connect/device", "client=headless", { type });
    const answer = await askSite(gateway, "/connect/device/token", `device_code=${body.device_code}`, { type });
    expect(answer.body.error.code).toBe("authorization_pending");
  });

  test("that connects again loses its older key", async () => {
    const connect = async (): Promise<string> => {
      const device = await beginDevice("again");
      await approveDevice(device);
      return (await poll(device)).body.api_key;
    };
    const [older, newer] = [await connect(), await connect()];
    await waitUntil("the end of the older key", async () => (await callApi(older)) === 401);
    expect(await callApi(newer)).toBe(200);
  });

  test("gets an error after a denial", async () => {
    const device = await beginDevice();
    const id = await lookUp(device);
    expect(await visitor.post(`/connect/requests/${id}/deny`)).toMatchObject({
      status: 200,
      body: { callback_url: null },
    });
    expect(await pollCode(device)).toBe("access_denied");
  });

  test("has ten minutes for the approval and for fetching the key", async () => {
    const [unanswered, unfetched] = [await beginDevice(), await beginDevice()];
    const id = await approveDevice(unfetched);
    clock.advance(10 * minuteMs);
    expect(await pollCode(unanswered)).toBe("expired_token");
    expect(await pollCode(unfetched)).toBe("expired_token");
    expect(await lookUp(unanswered)).toBe("404 not_found");
    expect((await visitor.get(`/connect/requests/${id}/status`)).body.state).toBe("expired");
  });

  test("gets one key, however often it polls, and a second fetch revokes it", async () => {
    const device = await beginDevice("twice");
    await approveDevice(device);
    const answers = await Promise.all(Array.from({ length: 10 }, () => poll(device)));
    const [got, ...others] = answers.toSorted((one, other) => one.status - other.status);
    expect(got?.status).toBe(200);
    expect(new Set(others.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(
      new Set(["400 invalid_grant"]),
    );
    await waitUntil("the end of the key", async () => (await callApi(got?.body.api_key)) === 401);
  });

  test.each([{}, { client: "a" }, { client: "a b" }, { client: 5 }, { client: "x".repeat(65) }])(
    "that calls itself %j is rejected",
    async (body) => {
      expect(await askSite(gateway, "/connect/device", body)).toMatchObject({
        status: 400,
        body: { error: { param: "client" } },
      });
    },
  );
});

describe("polling too often", () => {
  test("lengthens the interval each time, and slightly early polls do not", async () => {
    const device = await beginDevice();
    const polls: [afterMs: number, code: string][] = [
      [0, "authorization_pending"],
      [4 * secondMs, "authorization_pending"],
      [4 * secondMs - 1, "slow_down"],
      [9 * secondMs - 1, "slow_down"],
      [14 * secondMs, "authorization_pending"],
      [15 * secondMs, "authorization_pending"],
      [5 * secondMs, "slow_down"],
    ];
    for (const [afterMs, code] of polls) {
      clock.advance(afterMs);
      expect(await pollCode(device)).toBe(code);
    }
  });

  test("does not keep an approved device from its key", async () => {
    const device = await beginDevice();
    await poll(device);
    expect(await pollCode(device)).toBe("slow_down");
    await approveDevice(device);
    expect((await poll(device)).status).toBe(200);
  });

  test("from one network ends in a 429", async () => {
    const device = await beginDevice();
    const address = makeAddress();
    const answers = await Promise.all(Array.from({ length: 301 }, () => poll(device, address)));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
    const begin = () => askSite(gateway, "/connect/device", { client: "headless" }, { address });
    const begun = await Promise.all(Array.from({ length: 21 }, begin));
    expect(begun.filter(({ status }) => status === 429)).toHaveLength(1);
  });
});

describe("the secrets of a device", () => {
  test("unknown codes open nothing, and neither kind of code works as the other", async () => {
    const device = await beginDevice();
    expect((await poll({ ...device, device_code: "guess" })).body.error.code).toBe("invalid_grant");
    const { device_code: code } = device;
    const exchange = await askSite(gateway, "/connect/token", { code, code_verifier: "v".repeat(43) });
    expect(exchange.body.error.code).toBe("invalid_grant");
    expect(await pollCode(device)).toBe("authorization_pending");
  });

  test("a code that needs a verifier cannot be exchanged as a device code", async () => {
    const id = await beginRequest(gateway, makeVerifier().challenge);
    const code = (await approve(visitor, id)).get("code") ?? "";
    expect((await poll({ device_code: code, user_code: "" })).body.error.code).toBe("invalid_grant");
    expect((await visitor.get(`/connect/requests/${id}/status`)).body.state).toBe("waiting");
  });

  test("the device code is in no table and no log line", async () => {
    const { device_code } = await beginDevice();
    const rows = await gateway.database.selectFrom("connect_requests").selectAll().execute();
    const written = JSON.stringify([rows, gateway.logs], (_name, value) =>
      typeof value === "bigint" ? String(value) : value,
    );
    expect(written).not.toContain(device_code);
  });
});

describe("the code that a person types", () => {
  test("is found in any spelling, and again by the same person", async () => {
    const { user_code } = await beginDevice();
    const spellings = [
      user_code,
      user_code.toLowerCase(),
      user_code.replace("-", ""),
      ` ${user_code.replace("-", " ")}`,
    ];
    const found = await Promise.all(spellings.map((spelling) => lookUp({ user_code: spelling })));
    expect(new Set(found).size).toBe(1);
    await visitor.get(`/connect/requests/${found[0]}`);
    expect(await lookUp({ user_code })).toBe(found[0]);
  });

  test("is hidden from others once a person has opened its request, and from all once it is answered", async () => {
    const device = await beginDevice();
    const { visitor: other } = await signUpVisitor(gateway);
    await visitor.get(`/connect/requests/${await lookUp(device)}`);
    expect(await lookUp(device, other)).toBe("404 not_found");
    await approveDevice(device);
    expect(await lookUp(device)).toBe("404 not_found");
  });

  test("allows ten wrong guesses in fifteen minutes; a right code does not count", async () => {
    const { visitor: guesser } = await signUpVisitor(gateway);
    const device = await beginDevice();
    for (let round = 0; round < 12; round += 1) expect(await lookUp(device, guesser)).not.toMatch(/^\d{3} /);
    const guesses = ["BBBB-BBBB", "nonsense", "12345678"];
    const tries = Array.from({ length: 10 }, (_, index) => lookUp({ user_code: guesses[index % 3] ?? "" }, guesser));
    expect(new Set(await Promise.all(tries))).toEqual(new Set(["404 not_found"]));
    expect(await lookUp(device, guesser)).toBe("429 too_many_attempts");
    expect(await lookUp(device)).not.toMatch(/^\d{3} /);
    clock.advance(15 * minuteMs);
    expect(await lookUp(await beginDevice(), guesser)).not.toMatch(/^\d{3} /);
  });

  test.each([{}, { user_code: "" }, { user_code: "B".repeat(65) }, { user_code: 5 }])("%j is invalid", async (body) => {
    const answer = await visitor.post("/connect/device/lookup", body);
    expect(answer).toMatchObject({ status: 400, body: { error: { param: "user_code" } } });
  });

  test("does not exist for a browser's request", async () => {
    const id = await beginRequest(gateway);
    expect((await approve(visitor, id)).has("api_key")).toBe(true);
    expect(await lookUp({ user_code: id })).toBe("404 not_found");
  });
});
