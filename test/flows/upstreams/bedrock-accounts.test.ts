import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { environmentSecrets } from "../../../src/platform/config/secrets.ts";
import { ProviderError } from "../../../src/providers/contract.ts";
import { examineUpstream } from "../../../src/providers/examine-upstream.ts";
import type { GenerationProvider, ImageRequest } from "../../../src/providers/generation.ts";
import type { ProviderDefinition } from "../../../src/providers/provider-definition.ts";
import { createProviderRegistry, type ProviderRegistry } from "../../../src/providers/provider-registry.ts";
import { catchFailure, createInput, describeCall, getOutputs, readOutput } from "../../harness/media/media-stage.ts";
import { createTestClock } from "../../harness/test-clock.ts";
import { type BedrockFake, startBedrockFake } from "../../harness/upstreams/bedrock-fake.ts";
import { type StsFake, startStsFake } from "../../harness/upstreams/sts-fake.ts";
import { picture } from "../../harness/upstreams/wires/queue-wire.ts";

const account = { accessKeyId: "AKIATESTTESTTEST0001", secretAccessKey: "secret/with+signs", region: "eu-west-1" };
const apiKey = "bedrock-api-key-Zm9vYmFy";
const role = { arn: "arn:aws:iam::123456789012:role/sluice", externalId: "tenant-7f3a" };
/** As `aws configure export-credentials` prints them. */
const exported = JSON.stringify({ AccessKeyId: account.accessKeyId, SecretAccessKey: account.secretAccessKey });
const ultra = "arn:aws:bedrock:us-west-2::foundation-model/stability.stable-image-ultra-v1:1";
const hourMs = 3_600_000;

const clock = createTestClock();
let registry: ProviderRegistry;
let bedrock: BedrockFake;
let sts: StsFake;
/** Each test has a provider, and so sessions, of its own. */
let providerId = 0;
beforeAll(async () => {
  registry = createProviderRegistry({ clock, studioFolder: "/nowhere" });
  sts = await startStsFake({ region: account.region, key: account, role, clock });
  bedrock = await startBedrockFake({ ...account, apiKey, findSession: sts.findKey, clock });
});
afterAll(async () => {
  await registry.close();
  await bedrock[Symbol.asyncDispose]();
  await sts[Symbol.asyncDispose]();
});
beforeEach(() => {
  providerId += 1;
  bedrock.refuse(null);
  bedrock.draw("made");
  sts.refuse(null);
});

type Definition = Omit<ProviderDefinition, "id">;
const onBedrock = (more: Partial<Definition> = {}): ProviderDefinition => ({
  ...{ id: `p${providerId}`, kind: "bedrock-media", region: account.region, base_url: bedrock.url },
  ...{ api_keys: ["${CLOUD_KEY}"], ...more },
});
const asRole = (more: Partial<Definition> = {}): ProviderDefinition =>
  onBedrock({ role_arn: role.arn, external_id: role.externalId, sts_url: sts.url, ...more });

function getImages(definition: ProviderDefinition): GenerationProvider {
  const generation = registry.getGeneration(definition);
  if (generation === null) throw new Error("It makes nothing.");
  return generation;
}

const describeImage = (more: Parameters<typeof describeCall>[0] = {}) =>
  describeCall({ request: picture, upstreamModel: ultra, apiKey: exported, ...more });

async function draw(definition: ProviderDefinition, more: Parameters<typeof describeCall>[0] = {}) {
  return getOutputs(await getImages(definition).submit(describeImage(more)));
}

/** Every finding of `upstream test`, and the last one as a sentence. */
async function examine(provider: ProviderDefinition, secret: string, upstreamModel: string | null) {
  // The environment's secrets are kept for half a second.
  const secrets = { ...environmentSecrets, find: () => secret, use: () => secret, listSent: () => [secret] };
  const model = upstreamModel === null ? null : { upstreamModel, type: null, dimensionsMax: 0, isAsked: true };
  const shared = { registry, secrets, packagesFolder: null, clock, timeoutMs: 10_000 };
  const findings = await examineUpstream({ provider, model, ...shared });
  const { check = "", message = "", remedy = "" } = findings.at(-1) ?? {};
  return { findings, check, said: `${message} ${remedy}` };
}

describe("images", () => {
  const sessionToken = "FwoGZXIvYXdzEXAMPLE==";
  test.for([
    ["an API key", apiKey, undefined],
    ["an access key", exported, undefined],
    ["a session", JSON.stringify({ ...JSON.parse(exported), SessionToken: sessionToken }), sessionToken],
  ] as const)("are asked for with %s, whose signature AWS accepts", async ([, secret, session]) => {
    await using fake = await startBedrockFake({
      ...{ ...account, apiKey, clock },
      ...(session === undefined ? {} : { sessionToken: session }),
    });
    const [made] = await draw(onBedrock({ base_url: fake.url }), { apiKey: secret });
    expect((await readOutput(made)).subarray(1, 4).toString()).toBe("PNG");
    expect(fake.complaint()).toBeNull();
    expect(fake.requests.at(-1)).toMatchObject({ method: "POST", path: `/model/${encodeURIComponent(ultra)}/invoke` });
  });

  test("with inputs are variations for Amazon, changes for Stable Diffusion, and refused for the others", async () => {
    const inputs = [createInput()];
    for (const upstreamModel of ["amazon.nova-canvas-v1:0", "stability.sd3-5-large-v1:0"]) {
      await draw(onBedrock(), { inputs, upstreamModel });
      expect(bedrock.complaint()).toBeNull();
    }
    const images = getImages(onBedrock());
    const asked = { inputs: [{ role: "image" as const }], route: {} };
    expect(images.findObstacle(picture, { ...asked, upstreamModel: ultra })).toMatchObject({ param: "input_images" });
    // Another of the vendor's models can.
    expect(images.findObstacle(picture, asked)).toBeNull();
    const odd: ImageRequest = { ...picture, options: { style: "odd" } };
    expect(images.findObstacle(odd, asked)).toMatchObject({ param: "style" });
  });

  test("that were withheld are refusals, with the reason for operators", async () => {
    bedrock.draw("withheld");
    const error = await catchFailure(getImages(onBedrock()).submit(describeImage()));
    expect(error).toMatchObject({ kind: "content-refused", detail: { message: "Filter reason: output image" } });
  });

  test.for([
    ["key", "key-refused"],
    ["expired", "key-refused"],
    ["late", "key-refused"],
    ["signature", "key-refused"],
    ["apiKey", "key-refused"],
    ["region", "misconfigured"],
    ["access", "model-unavailable"],
    ["policy", "model-unavailable"],
    ["model", "model-unavailable"],
    ["profile", "model-unavailable"],
    ["rate", "rate-limited"],
    ["quota", "quota-exceeded"],
    ["loading", "overloaded"],
    ["failing", "overloaded"],
    ["slow", "timeout"],
    // AWS's own, so nothing was made.
    ["fault", "overloaded"],
  ] as const)("meet the error %s as %s", async ([name, kind]) => {
    bedrock.refuse(name);
    const error = await catchFailure(getImages(onBedrock()).submit(describeImage()));
    expect(error).toMatchObject({ kind });
    expect(error.detail?.code).toMatch(/Exception$/);
  });

  test("meet a wrong secret or region by the signature alone", async () => {
    const wrong = exported.replace(account.secretAccessKey, "another-secret-key");
    const images = getImages(onBedrock());
    expect(await catchFailure(images.submit(describeImage({ apiKey: wrong })))).toMatchObject({ kind: "key-refused" });
    const elsewhere = getImages(onBedrock({ region: "us-east-1" }));
    expect(await catchFailure(elsewhere.submit(describeImage()))).toMatchObject({ kind: "misconfigured" });
    expect(await catchFailure(images.submit(describeImage({ apiKey: null })))).toMatchObject({ kind: "key-refused" });
  });
});

describe("upstream test of images", () => {
  test("checks key and model with a request that costs nothing", async () => {
    const { findings } = await examine(onBedrock(), exported, ultra);
    expect(findings.map(({ check, isOk }) => [check, isOk])).toEqual([
      ...[
        ["dns", true],
        ["connection", true],
      ].slice(findings[0]?.check === "dns" ? 0 : 1),
      ...[
        ["http", true],
        ["key", true],
        ["model", true],
      ],
    ]);
    expect(String(bedrock.requests.at(-1)?.body)).toBe("{}");
    expect(await examine(onBedrock(), exported, null)).toMatchObject({ check: "key" });
  });

  test.for([
    ["key", "key", "secret set CLOUD_KEY"],
    ["region", "address", "your region"],
    ["access", "model", "request access to the model"],
    ["policy", "model", "bedrock:InvokeModel"],
    ["rate", "quota", "rate limit"],
    ["fault", "upstream", "fault"],
  ] as const)("explains the error %s", async ([name, check, words]) => {
    bedrock.refuse(name);
    const found = await examine(onBedrock(), exported, ultra);
    expect(found).toMatchObject({ check, said: expect.stringContaining(words) });
    expect(found.findings.at(-1)?.isOk).toBe(false);
    expect(found.said).not.toContain(account.secretAccessKey);
  });

  test("finds a model that Bedrock does not have, but needs none to check the key", async () => {
    const found = await examine(onBedrock(), exported, "stability.absent-v1:0");
    expect(found).toMatchObject({ check: "model", said: expect.stringContaining("stability.absent-v1:0") });
    const wrong = exported.replace(account.secretAccessKey, "another-secret-key");
    expect(await examine(onBedrock(), wrong, null)).toMatchObject({ check: "key" });
    expect((await examine(onBedrock(), wrong, null)).findings.at(-1)?.isOk).toBe(false);
  });
});

async function chat(definition: ProviderDefinition): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  registry.getChat(definition).startChat(
    {
      request: { model: "ours", messages: [{ role: "user", content: "Hello" }] },
      ...{ upstreamModel: "amazon.nova-2-lite-v1:0", apiKey: exported, outputTokensMax: 100 },
      timeouts: { connectMs: 10_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 30_000 },
    },
    {
      ...{ onAccepted: () => {}, onPieces: () => {}, onEnd: () => resolve(""), onError: reject },
      onAnswer: ({ text }) => resolve(text),
    },
  );
  return await promise;
}

describe("a role", () => {
  test("is assumed once for concurrent calls, and again before its session ends", async () => {
    const before = sts.countSessions();
    const release = sts.hold();
    const calls = [draw(asRole()), draw(asRole()), draw(asRole())];
    await vi.waitFor(() => expect(sts.requests.length).toBeGreaterThan(0));
    release();
    await Promise.all(calls);
    expect(sts.countSessions()).toBe(before + 1);
    clock.advance(hourMs - 6 * 60_000);
    await draw(asRole());
    expect(sts.countSessions()).toBe(before + 1);
    clock.advance(2 * 60_000);
    // While AWS issues none, the old session still serves.
    sts.refuse("fault");
    await draw(asRole());
    sts.refuse(null);
    await draw(asRole());
    expect(sts.countSessions()).toBe(before + 2);
    clock.advance(hourMs + 1);
    sts.refuse("fault");
    expect(await catchFailure(draw(asRole()))).toMatchObject({ kind: "overloaded" });
    sts.refuse(null);
    await draw(asRole());
    expect(sts.countSessions()).toBe(before + 3);
  });

  test("whose session was revoked is assumed again", async () => {
    await draw(asRole());
    const before = sts.countSessions();
    bedrock.refuse("expired");
    expect(await catchFailure(draw(asRole()))).toMatchObject({ kind: "key-refused" });
    bedrock.refuse(null);
    await draw(asRole());
    expect(sts.countSessions()).toBe(before + 1);
  });

  test("signs with the credentials of its session, never with the stored key", async () => {
    await draw(asRole());
    const { headers } = bedrock.requests.at(-1) ?? {};
    expect(headers?.authorization).toContain("Credential=ASIATESTTESTTEST");
    expect(headers?.["x-amz-security-token"]).toBe(
      sts.findKey(/ASIA\w+/.exec(headers?.authorization ?? "")?.[0] ?? "")?.sessionToken,
    );
    expect(Object.fromEntries(new URLSearchParams(String(sts.requests.at(-1)?.body)))).toEqual({
      ...{ Action: "AssumeRole", Version: "2011-06-15", RoleArn: role.arn, RoleSessionName: "sluice" },
      ...{ DurationSeconds: "3600", ExternalId: role.externalId },
    });
  });

  test("is assumed for chat too", async () => {
    // The package signs by the clock of the machine.
    await using fake = await startBedrockFake({ ...account, apiKey, findSession: sts.findKey });
    const provider = asRole({ kind: "bedrock", base_url: fake.url });
    expect(await chat(provider)).toBe("Hello");
    expect(fake.requests.at(-1)?.headers.authorization).toContain("Credential=ASIATESTTESTTEST");
    const before = sts.countSessions();
    fake.refuse("expired");
    await expect(chat(provider)).rejects.toMatchObject({ kind: "key-refused" });
    fake.refuse(null);
    expect(await chat(provider)).toBe("Hello");
    expect(sts.countSessions()).toBe(before + 1);
    sts.refuse("denied");
    const refused = await chat(asRole({ kind: "bedrock", base_url: fake.url, headers: { "x-new": "1" } })).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(ProviderError);
    expect(refused).toMatchObject({ kind: "key-refused" });
  });

  test.for([
    ["denied", "key-refused", "role", "sts:AssumeRole"],
    ["inactive", "misconfigured", "role", "Activate the region"],
    ["invalid", "misconfigured", "role", "role_arn"],
    ["key", "key-refused", "key", "secret set CLOUD_KEY"],
    ["expired", "key-refused", "key", "secret set CLOUD_KEY"],
    ["rate", "rate-limited", "role", "Rate exceeded"],
    ["fault", "overloaded", "role", "internal error"],
  ] as const)("that fails with %s is %s, and upstream test explains it", async ([name, kind, check, words]) => {
    sts.refuse(name);
    const before = bedrock.requests.length;
    expect(await catchFailure(draw(asRole()))).toMatchObject({ kind, detail: { role: role.arn } });
    const found = await examine(asRole(), exported, ultra);
    expect(found).toMatchObject({ check, said: expect.stringContaining(words) });
    expect(found.said).toContain(role.arn);
    expect(found.said).not.toContain(account.secretAccessKey);
    expect(bedrock.requests.length).toBe(before);
  });

  test("with another external ID, or of another account, is not assumed", async () => {
    for (const more of [{ external_id: "another" }, { role_arn: "arn:aws:iam::210987654321:role/sluice" }]) {
      expect(await examine(asRole(more), exported, ultra)).toMatchObject({
        ...{ check: "role", said: expect.stringContaining("set external_id") },
      });
    }
  });

  test("whose address does not answer is a fault of the network, and of no request", async () => {
    expect(await catchFailure(draw(asRole({ sts_url: "http://127.0.0.1:1" })))).toMatchObject({ kind: "unreachable" });
    const found = await examine(asRole({ sts_url: "http://127.0.0.1:1" }), exported, ultra);
    expect(found).toMatchObject({ check: "role", said: expect.stringContaining("http://127.0.0.1:1") });
  });

  test("needs an access key: a Bedrock API key takes the provider out of service", async () => {
    const found = await examine(asRole(), apiKey, ultra);
    expect(found).toMatchObject({ check: "setup", said: expect.stringContaining("cannot assume the role") });
    expect(await catchFailure(draw(asRole(), { apiKey }))).toMatchObject({ kind: "key-refused" });
  });
});
