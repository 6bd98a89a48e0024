import {
  AccessDeniedException,
  BedrockRuntimeServiceException,
  InternalServerException,
  InvokeModelCommand,
  ModelErrorException,
  ModelNotReadyException,
  ModelTimeoutException,
  ServiceQuotaExceededException,
  ThrottlingException,
  ValidationException,
} from "@aws-sdk/client-bedrock-runtime";
import { createFalClient, ValidationError } from "@fal-ai/client";
import { describe, expect, test } from "vitest";
import type { QueueKind, VoiceKind } from "../../../src/providers/provider-definition.ts";
import { connectBedrock } from "../../harness/upstreams/bedrock-client.ts";
import { startBedrockFake } from "../../harness/upstreams/bedrock-fake.ts";
import { startFakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { failureClasses, queueDrivers, speechDrivers } from "../../harness/upstreams/sdk-drivers.ts";
import { spoken, startQueueFake, startSpeechFake } from "../../harness/upstreams/vendor-fake.ts";
import { bedrockMediaWire } from "../../harness/upstreams/wires/bedrock-media-wire.ts";
import type { QueueWire } from "../../harness/upstreams/wires/queue-wire.ts";
import { queueWires } from "../../harness/upstreams/wires/queue-wires.ts";
import { type SpeechWire, speechWires } from "../../harness/upstreams/wires/speech-wires.ts";

/** The vendors' own clients talk to the fakes that our adapters are tested with, so the fakes are like the vendors. */

async function catchError(attempt: Promise<unknown>): Promise<Error> {
  const error = await attempt.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Error);
  return error as Error;
}

/** Clients call it `status` or `statusCode`, or keep the response. */
function readStatus(error: Error): unknown {
  const { status, statusCode, response } = error as {
    status?: number;
    statusCode?: number;
    response?: { status: number };
  } & Error;
  return status ?? statusCode ?? response?.status;
}

test("every vendor with a client is driven by it", () => {
  const named = (wires: Record<string, QueueWire | SpeechWire>) =>
    Object.keys(wires).filter((kind) => wires[kind]?.source.sdk !== undefined);
  expect(Object.keys(queueDrivers).sort()).toEqual(named(queueWires).sort());
  expect(Object.keys(speechDrivers).sort()).toEqual(named(speechWires).sort());
});

describe.each(Object.keys(queueDrivers) as QueueKind[])("the client of %s", (kind) => {
  const wire = queueWires[kind];
  const driver = queueDrivers[kind];
  if (driver === undefined) throw new Error(`${kind} has no client.`);

  async function open(apiKey = "sk-1") {
    const fake = await startQueueFake(wire);
    const client = driver?.connect(`${fake.origin}${wire.base}`, apiKey);
    if (client === undefined) throw new Error(`${kind} has no client.`);
    return { fake, client, [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose]() };
  }

  test("submits a job, polls it to its end, and downloads the output", async () => {
    await using stage = await open();
    const { fake, client } = stage;
    const id = await client.submit();
    expect({ id, complaint: fake.complaint() }).toEqual({ id: wire.id ?? "job-1", complaint: null });
    fake.setStates("queued", "running", "done");
    const { queued, running, done } = driver.words;
    expect([await client.poll(id), await client.poll(id), await client.poll(id)]).toEqual([queued, running, done]);
    const url = await client.getOutput(id);
    expect(await (await fetch(url)).text()).toBe("made");
    if (client.getCost !== undefined) expect(await client.getCost(id)).toBe(25);
  });

  test.each(Object.keys(wire.refusals) as (keyof QueueWire["refusals"])[])(
    "meets a refusal for %s as its own error",
    async (name) => {
      await using stage = await open();
      stage.fake.refuse(name);
      const error = await catchError(stage.client.submit());
      expect(error).toBeInstanceOf(driver.errors[name]);
      expect(readStatus(error)).toBe(wire.refusals[name]?.[0]);
    },
  );

  test("is refused with a wrong key, and with a field that the vendor does not have", async () => {
    await using stranger = await open("sk-2");
    expect(await catchError(stranger.client.submit())).toBeInstanceOf(driver.errors.key);
    await using stage = await open();
    const error = await catchError(stage.client.submit({ surprise: true }));
    expect(error).toBeInstanceOf(driver.errors.invalid);
    expect(stage.fake.complaint()).not.toBeNull();
  });

  test.each(["failed", "refused"] as const)("sees that a job %s, and why", async (state) => {
    await using stage = await open();
    stage.fake.setStates(state);
    const error = await catchError(stage.client.getOutput(await stage.client.submit()));
    expect(error).toBeInstanceOf(failureClasses[kind] ?? Error);
    if (state === "refused" && driver.hidesRefusals === true) return;
    expect(JSON.stringify(wire.states[state])).toContain(error.message);
  });

  test("gets an image with the reply, where there is no job", async () => {
    await using stage = await open();
    const made = await stage.client.draw?.();
    expect(stage.fake.complaint()).toBeNull();
    if (made !== undefined) expect(atob(made)).toBe("made");
  });

  test("cancels a job, where the vendor can", async () => {
    await using stage = await open();
    if (wire.cancel === undefined) return;
    await stage.client.cancel?.(await stage.client.submit());
    const { method, path } = stage.fake.requests.at(-1) ?? {};
    expect({ method, path }).toEqual({ method: wire.cancel?.method, path: wire.cancel?.path });
  });
});

describe.each(Object.keys(speechDrivers) as VoiceKind[])("the client of %s", (kind) => {
  const wire = speechWires[kind];
  const driver = speechDrivers[kind];
  if (driver === undefined) throw new Error(`${kind} has no client.`);

  test("speaks", async () => {
    await using fake = await startSpeechFake(wire);
    expect(Buffer.from(await driver.speak(`${fake.origin}${wire.base}`, "sk-1"))).toEqual(spoken);
    expect(fake.complaint()).toBeNull();
  });

  test.each(Object.keys(wire.refusals) as (keyof SpeechWire["refusals"])[])(
    "meets a refusal for %s as its own error",
    async (name) => {
      await using fake = await startSpeechFake(wire);
      fake.refuse(name);
      const error = await catchError(driver.speak(`${fake.origin}${wire.base}`, "sk-1"));
      expect(error).toBeInstanceOf(driver.errors[name]);
      expect(readStatus(error)).toBe(wire.refusals[name][0]);
    },
  );

  test("is refused with a wrong key, and with a value that the vendor does not have", async () => {
    await using fake = await startSpeechFake(wire);
    const baseUrl = `${fake.origin}${wire.base}`;
    expect(await catchError(driver.speak(baseUrl, "sk-2"))).toBeInstanceOf(driver.errors.key);
    expect(await catchError(driver.speak(baseUrl, "sk-1", { speed: -1, text: "" }))).toBeInstanceOf(
      driver.errors.invalid,
    );
    expect(fake.complaint()).not.toBeNull();
  });
});

describe("the client of fal", () => {
  async function open() {
    const fakes = await startFakeUpstreams();
    const client = createFalClient({
      credentials: "sk-1",
      suppressLocalCredentialsWarning: true,
      retry: { maxRetries: 0 },
      requestMiddleware: async (request) => ({
        ...request,
        url: request.url.replace("https://queue.fal.run", fakes.falUrl),
      }),
    });
    return { fakes, client, [Symbol.asyncDispose]: () => fakes[Symbol.asyncDispose]() };
  }
  const model = "fal-ai/flux/dev";
  const input = { prompt: "A barn", image_size: { width: 64, height: 64 }, num_images: 2 };

  test("submits a job, polls it to its end, and downloads the outputs", async () => {
    await using stage = await open();
    const { client, fakes } = stage;
    fakes.media.script({ queue: 1, work: 1 });
    const { request_id: requestId, status } = await client.queue.submit(model, { input });
    expect(status).toBe("IN_QUEUE");
    const poll = async () => (await client.queue.status(model, { requestId })).status;
    expect([await poll(), await poll(), await poll()]).toEqual(["IN_QUEUE", "IN_PROGRESS", "COMPLETED"]);
    const { data } = await client.queue.result(model, { requestId });
    expect(data.images).toHaveLength(2);
    const url = data.images[0]?.url ?? "";
    expect((await fetch(url)).headers.get("content-type")).toBe("image/png");
    expect(fakes.media.refusals()).toEqual([]);
  });

  test.each([
    [401, {}],
    [403, { message: "User is locked. Reason: Exhausted balance" }],
    [500, {}],
  ] as const)("meets a refusal with %s as its own error", async (status, error) => {
    await using stage = await open();
    stage.fakes.media.script({ status, error });
    expect(await catchError(stage.client.queue.submit(model, { input }))).toMatchObject({ name: "ApiError", status });
  });

  test("knows a 429, and submits once more", async () => {
    await using stage = await open();
    stage.fakes.media.script({ status: 429 }, {});
    await stage.client.queue.submit(model, { input });
    expect(stage.fakes.media.submissions).toHaveLength(2);
  });

  test("sees which field is invalid, and that a result was refused for its content", async () => {
    await using stage = await open();
    const odd = { ...input, image_size: { width: 1, height: 1 } };
    const invalid = await catchError(stage.client.queue.submit(model, { input: odd }));
    expect(invalid).toBeInstanceOf(ValidationError);
    expect((invalid as ValidationError).getFieldErrors("image_size")).toHaveLength(1);
    const prompt = "A barn <<fault:policy>>";
    const { request_id: requestId } = await stage.client.queue.submit(model, { input: { ...input, prompt } });
    await stage.client.queue.status(model, { requestId });
    const refused = await catchError(stage.client.queue.result(model, { requestId }));
    expect(refused).toBeInstanceOf(ValidationError);
    expect((refused as ValidationError).fieldErrors[0]?.type).toBe("content_policy_violation");
  });

  test("cancels a job", async () => {
    await using stage = await open();
    const { request_id: requestId } = await stage.client.queue.submit(model, { input });
    await stage.client.queue.cancel(model, { requestId });
    expect(stage.fakes.media.jobs[0]?.cancelCount).toBe(1);
  });
});

describe("the client of bedrock-media", () => {
  const account = { accessKeyId: "AKIATESTTESTTEST0001", secretAccessKey: "secret/with+signs", region: "us-west-2" };
  const [example] = bedrockMediaWire.examples;

  async function open(secretAccessKey = account.secretAccessKey) {
    const fake = await startBedrockFake({ ...account, apiKey: "a-key", clock: { now: () => new Date() } });
    const client = connectBedrock(fake.url, { ...account, secretAccessKey });
    const invoke = async (body: unknown, modelId = bedrockMediaWire.model) => {
      const asked = {
        modelId,
        contentType: "application/json",
        accept: "application/json",
        body: JSON.stringify(body),
      };
      const answer = await client.send(new InvokeModelCommand(asked));
      return JSON.parse(answer.body.transformToString());
    };
    return { fake, invoke, [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose]() };
  }

  test.each(bedrockMediaWire.examples)("makes an image at $path", async ({ body, model }) => {
    await using stage = await open();
    const { images } = await stage.invoke(body, model);
    expect(stage.fake.complaint()).toBeNull();
    expect(Buffer.from(images[0], "base64").subarray(1, 4).toString()).toBe("PNG");
    stage.fake.draw("withheld");
    expect(JSON.stringify(await stage.invoke(body, model))).toMatch(/content filters|Filter reason/);
  });

  test.each([
    ["access", AccessDeniedException],
    ["rate", ThrottlingException],
    ["loading", ModelNotReadyException],
    ["slow", ModelTimeoutException],
    ["failing", ModelErrorException],
    ["quota", ServiceQuotaExceededException],
    ["model", ValidationException],
    ["fault", InternalServerException],
  ] as const)("meets the error %s as its own", async (name, own) => {
    await using stage = await open();
    stage.fake.refuse(name);
    expect(await catchError(stage.invoke(example.body))).toBeInstanceOf(own);
  });

  test("is refused with a wrong secret, a field that the model does not have, and an unknown model", async () => {
    await using stranger = await open("another");
    const refused = await catchError(stranger.invoke(example.body));
    expect(refused).toBeInstanceOf(BedrockRuntimeServiceException);
    expect(refused.name).toBe("InvalidSignatureException");
    await using stage = await open();
    const odd = { ...(example.body as object), surprise: true };
    expect(await catchError(stage.invoke(odd))).toBeInstanceOf(ValidationException);
    expect(await catchError(stage.invoke({}, "amazon.absent-v1:0"))).toBeInstanceOf(ValidationException);
  });
});
