import { Type } from "typebox";
import { expect, test } from "vitest";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import type { Chat, ChatQuestion } from "../chat/index.ts";
import { createWriter } from "./ask-writer.ts";

const schema = Type.Object({ title: Type.String(), scenes: Type.Integer() }, { additionalProperties: false });
const good = '{"title":"The Lighthouse","scenes":2}';

type Reply = Awaited<ReturnType<Chat["ask"]>>;

/** A model with scripted responses: a text, a truncated text, or an error; each from another target. */
function createModel(...answers: (string | { part: string } | Error)[]) {
  const asked: ChatQuestion[] = [];
  const targets = answers.map((_, index) => ({ number: index }) as unknown as Reply["target"]);
  return {
    asked,
    targets,
    async ask(question: ChatQuestion): Promise<Reply> {
      const index = asked.length;
      asked.push({ ...question, avoided: [...question.avoided] });
      const answer = answers[index];
      const target = targets[index];
      if (answer === undefined || target === undefined) throw new Error("the model was asked too often");
      if (answer instanceof Error) throw answer;
      const isWhole = typeof answer === "string";
      return { text: isWhole ? answer : answer.part, isWhole, target };
    },
  };
}

async function askModel(
  model: ReturnType<typeof createModel>,
  { retryDelaysMs = [0, 0], signal = new AbortController().signal } = {},
) {
  const ask = createWriter(model, { retryDelaysMs });
  const question = {
    modelId: "writer",
    name: "drama_script",
    schema,
    instructions: "Write.",
    facts: { n: 1 },
  } as const;
  return await ask(question, signal);
}

function failWith(code: ErrorCode): AppError {
  return new AppError(code, "It did not work.");
}

test("a question contains the instructions, the schema and the facts", async () => {
  const model = createModel(good);
  expect(await askModel(model)).toEqual({ title: "The Lighthouse", scenes: 2 });
  const [question] = model.asked;
  expect(question).toMatchObject({ modelId: "writer", schema: { name: "drama_script", schema } });
  const [system, user, ...more] = question?.messages ?? [];
  expect(more).toEqual([]);
  expect(system).toMatchObject({ role: "system" });
  expect(String(system?.content)).toContain("Write.");
  expect(String(system?.content)).toContain(JSON.stringify(schema));
  expect(user).toEqual({ role: "user", content: '{"n":1}' });
  expect(question?.outputTokensMax).toBeGreaterThan(0);
});

test.each([
  ["fences", `\`\`\`json\n${good}\n\`\`\``],
  ["words before and after", `Here it is: ${good} I hope that you like it.`],
  ["more than was asked for", '{"title":"The Lighthouse","scenes":2,"mood":"dark"}'],
])("a response with %s is accepted at once", async (_what, answer) => {
  const model = createModel(answer);
  expect(await askModel(model)).toEqual({ title: "The Lighthouse", scenes: 2 });
  expect(model.asked).toHaveLength(1);
});

test.each([
  ["no JSON", "I cannot do that.", "no JSON object"],
  ["nothing", "", "no JSON object"],
  ["broken JSON", '{"title":', "no JSON"],
  ["half of an answer", '{"title":"The Lighthouse","scenes":2', "no JSON"],
  ["a field of another type", '{"title":"The Lighthouse","scenes":"two"}', "/scenes"],
  ["a missing field", '{"title":"The Lighthouse"}', "scenes"],
  ["a closing brace first", "} {", "no JSON"],
])("a model that responds with %s gets the problem and is asked again", async (_what, answer, reason) => {
  const model = createModel(answer, good);
  expect(await askModel(model)).toEqual({ title: "The Lighthouse", scenes: 2 });
  expect(model.asked).toHaveLength(2);
  const [system, user, assistant, complaint] = model.asked[1]?.messages ?? [];
  expect([system, user]).toEqual(model.asked[0]?.messages);
  expect(assistant).toEqual({ role: "assistant", content: answer });
  expect(String(complaint?.content)).toContain(reason);
});

test("a retry contains only the last response, so that the question does not grow", async () => {
  const model = createModel("first", "second", good);
  await askModel(model);
  expect(model.asked[2]?.messages).toHaveLength(4);
  expect(model.asked[2]?.messages[2]).toEqual({ role: "assistant", content: "second" });
});

test("a truncated response is rejected, whatever it contains, and a shorter one is requested", async () => {
  const model = createModel({ part: good }, good);
  expect(await askModel(model)).toEqual({ title: "The Lighthouse", scenes: 2 });
  expect(String(model.asked[1]?.messages[3]?.content)).toContain("shorter");
});

test("a target with an unusable response is avoided from then on, but not one that failed to respond", async () => {
  const model = createModel("first", failWith("overloaded"), good);
  await askModel(model);
  expect(model.asked.map(({ avoided }) => avoided)).toEqual([[], [model.targets[0]], [model.targets[0]]]);
});

test("three unusable responses are a retryable failure that does not name the model", async () => {
  const model = createModel("one", "two", "three");
  const error = await askModel(model).catch((caught: unknown) => caught as AppError);
  expect(error).toBeInstanceOf(AppError);
  expect(error).toMatchObject({ code: "upstream_unavailable" });
  expect(String((error as AppError).message)).not.toContain("three");
  expect(model.asked).toHaveLength(3);
});

test.each(["upstream_unavailable", "upstream_timeout", "model_unroutable", "overloaded"] as const)(
  "after %s the same question is asked again, twice at most",
  async (code) => {
    const passing = createModel(failWith(code), failWith(code), good);
    expect(await askModel(passing)).toEqual({ title: "The Lighthouse", scenes: 2 });
    expect(passing.asked[2]?.messages).toEqual(passing.asked[0]?.messages);
    const lasting = createModel(failWith(code), failWith(code), failWith(code), good);
    await expect(askModel(lasting)).rejects.toMatchObject({ code });
    expect(lasting.asked).toHaveLength(3);
  },
);

test.each(["content_policy_violation", "context_length_exceeded", "unsupported_capability", "internal_error"] as const)(
  "%s is permanent and thrown at once",
  async (code) => {
    const model = createModel(failWith(code), good);
    await expect(askModel(model)).rejects.toMatchObject({ code });
    expect(model.asked).toHaveLength(1);
  },
);

test("an internal error is not retried", async () => {
  const model = createModel(new TypeError("a bug"), good);
  await expect(askModel(model)).rejects.toBeInstanceOf(TypeError);
  expect(model.asked).toHaveLength(1);
});

test("an abort during the retry delay takes effect at once", async () => {
  const stop = new AbortController();
  const model = createModel(failWith("overloaded"), good);
  const asking = askModel(model, { retryDelaysMs: [3_600_000], signal: stop.signal });
  const ended = asking.then(
    () => "answered",
    () => "stopped",
  );
  await waitUntil("the first question", () => model.asked.length === 1);
  stop.abort(new Error("not wanted any more"));
  expect(await ended).toBe("stopped");
  expect(model.asked).toHaveLength(1);
});

test("an abort during the call causes no retry", async () => {
  const stop = new AbortController();
  let asked = 0;
  const ask = createWriter(
    {
      ask: async (question) => {
        asked += 1;
        expect(question.modelId).toBe("w");
        stop.abort(new Error("not wanted any more"));
        throw failWith("upstream_unavailable");
      },
    },
    { retryDelaysMs: [0, 0] },
  );
  const question = { modelId: "w", name: "drama_roles", schema, instructions: "", facts: {} } as const;
  await expect(ask(question, stop.signal)).rejects.toMatchObject({ code: "upstream_unavailable" });
  expect(asked).toBe(1);
});
