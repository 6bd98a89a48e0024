import { type TSchema, Type } from "typebox";
import { describe, expect, test } from "vitest";
import { describeValidationProblem, type ValidationProblem } from "../errors/validation-problem.ts";
import { compileValidator } from "./validation.ts";

type Part = "body" | "querystring";

const compile = compileValidator;

/** The problem in the response, or `null` if the value is valid. */
function findProblem(schema: TSchema, value: unknown, part: Part = "body"): ValidationProblem | null {
  const validate = compile({ schema, method: "POST", url: "/", httpPart: part });
  if (validate(value) === true) return null;
  return describeValidationProblem(validate.errors ?? [], part);
}

const strict = { additionalProperties: false };

const messageSchema = Type.Object(
  { role: Type.Enum(["system", "user", "assistant"]), content: Type.String({ minLength: 1 }) },
  strict,
);

const bodySchema = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 5 }),
    messages: Type.Array(messageSchema, { minItems: 2, maxItems: 3 }),
    n: Type.Optional(Type.Integer({ minimum: 1, maximum: 4 })),
    user: Type.Optional(Type.String({ minLength: 3 })),
    object: Type.Optional(Type.Literal("chat")),
    stream: Type.Optional(Type.Boolean()),
    metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  strict,
);

const message = { role: "user", content: "Hi" };
const right = { model: "m", messages: [message, message] };

const querySchema = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
    deep: Type.Optional(Type.Boolean()),
    type: Type.Optional(Type.Enum(["chat", "image"])),
  },
  strict,
);

test("a valid body has no problem", () => {
  expect(findProblem(bodySchema, { ...right, n: 4, stream: true, metadata: { a: "b" } })).toBeNull();
});

describe("an invalid body gets the field and the allowed values", () => {
  const lastWrong = (wrong: object) => ({ messages: [message, wrong] });
  test.each([
    ["missing_parameter", "model", "is required", { model: undefined }],
    ["missing_parameter", "messages[1].role", "is required", lastWrong({ content: "Hi" })],
    ["unknown_parameter", "temprature", "is not a field of this endpoint", { temprature: 1 }],
    ["unknown_parameter", "messages[1].name", "is not a field of this endpoint", lastWrong({ ...message, name: "x" })],
    ["invalid_parameter", "messages[1].content", "must not be empty", lastWrong({ ...message, content: "" })],
    ["invalid_parameter", "messages[1]", "must be of type object", { messages: [message, "Hi"] }],
    ["invalid_parameter", "messages", "must have at least 2 items", { messages: [message] }],
    ["invalid_parameter", "messages", "must have at most 3 items", { messages: Array(4).fill(message) }],
    ["invalid_parameter", "model", "must not be empty", { model: "" }],
    ["invalid_parameter", "model", "must have at most 5 characters", { model: "gpt-99" }],
    ["invalid_parameter", "model", "must be of type string", { model: null }],
    ["invalid_parameter", "user", "must have at least 3 characters", { user: "ab" }],
    ["invalid_parameter", "n", "must be <= 4", { n: 5 }],
    ["invalid_parameter", "n", "must be of type integer", { n: 1.5 }],
    ["invalid_parameter", "object", 'must be "chat"', { object: "text" }],
    ["invalid_parameter", "metadata.a", "must be of type string", { metadata: { a: 1 } }],
  ])("%s, %s: %s", (code, param, sentence, change) => {
    const value: unknown = JSON.parse(JSON.stringify({ ...right, ...change }));
    expect(findProblem(bodySchema, value)).toEqual({ code, param, message: `\`${param}\` ${sentence}.` });
  });

  test("allowed values are listed", () => {
    const value = { ...right, messages: [{ role: "robot", content: "Hi" }, message] };
    expect(findProblem(bodySchema, value)).toEqual({
      code: "invalid_parameter",
      param: "messages[0].role",
      message: "`messages[0].role` must be one of: system, user, assistant.",
    });
  });

  test.each([
    ["a list", []],
    ["null", null],
    ["text", "model"],
  ])("%s in place of an object", (_, value) => {
    expect(findProblem(bodySchema, value)?.message).toBe("The body must be of type object.");
  });

  test("names with a slash or a tilde are unescaped", () => {
    for (const name of ["a/b", "a~b", "a~1b", "~0/~1"]) {
      const problem = findProblem(bodySchema, { ...right, metadata: { [name]: 1 } });
      expect(problem?.param).toBe(`metadata.${name}`);
    }
    const nested = Type.Object({ "a/b": Type.Object({ "c~d": Type.Integer() }) });
    expect(findProblem(nested, { "a/b": { "c~d": "x" } })?.param).toBe("a/b.c~d");
  });

  test("a rule without our own message uses the validator's, with a full stop", () => {
    const schema = Type.Object({ even: Type.Integer({ multipleOf: 2 }) });
    expect(findProblem(schema, { even: 3 })?.message).toBe("`even` must be multiple of 2.");
  });
});

describe("names with a special meaning in JavaScript are unknown fields", () => {
  const wideSchema = Type.Object(
    Object.fromEntries([..."abcdefghij"].map((name) => [name, Type.Optional(Type.String())])),
    strict,
  );

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("%s", (name) => {
    const expected = { code: "unknown_parameter", param: name };
    expect(findProblem(bodySchema, JSON.parse(`{"model":"m","messages":[],"${name}":{"n":1}}`))).toMatchObject(
      expected,
    );
    expect(findProblem(wideSchema, JSON.parse(`{"${name}":{"a":"x"}}`))).toMatchObject(expected);
  });
});

describe("bodies and queries differ in coercion", () => {
  test.each([
    ["n", "4", "integer"],
    ["stream", "true", "boolean"],
    ["stream", 1, "boolean"],
    ["user", 12345, "string"],
  ])("a body's value is not coerced: %s = %j is rejected", (name, value, type) => {
    const problem = findProblem(bodySchema, { ...right, [name]: value });
    expect(problem?.message).toBe(`\`${name}\` must be of type ${type}.`);
  });

  test("validation does not change a body: unknown fields stay and are rejected", () => {
    const body = { ...right, extra: "5" };
    expect(findProblem(bodySchema, body)?.code).toBe("unknown_parameter");
    expect(body).toEqual({ ...right, extra: "5" });
  });

  test("a query's values are coerced, and missing ones get their defaults", () => {
    const query = { limit: "5", deep: "true" };
    expect(findProblem(querySchema, query, "querystring")).toBeNull();
    expect(query).toEqual({ limit: 5, deep: true });
    const empty = {};
    expect(findProblem(querySchema, empty, "querystring")).toBeNull();
    expect(empty).toEqual({ limit: 20 });
  });

  test.each([
    [{ limit: "abc" }, "`limit` must be of type integer."],
    [{ limit: "" }, "`limit` must be of type integer."],
    [{ limit: "1.5" }, "`limit` must be of type integer."],
    [{ limit: ["1", "2"] }, "`limit` must be of type integer."],
    [{ limit: "101" }, "`limit` must be <= 100."],
    [{ type: "video" }, "`type` must be one of: chat, image."],
    [{ page: "2" }, "`page` is not a query parameter of this endpoint."],
  ])("an invalid query %j: %s", (query, sentence) => {
    expect(findProblem(querySchema, query, "querystring")?.message).toBe(sentence);
  });
});

describe("a value that matches no member of a union", () => {
  const schema = Type.Object({
    stop: Type.Union([Type.String(), Type.Array(Type.String())]),
    mode: Type.Union([Type.Literal("auto"), Type.Literal("none")]),
    heat: Type.Optional(Type.Union([Type.Number({ maximum: 2 }), Type.Null()])),
  });

  test.each([
    [{ stop: 5, mode: "auto" }, "stop", "`stop` must be of type string or array."],
    [{ stop: [5], mode: "auto" }, "stop[0]", "`stop[0]` must be of type string."],
    [{ stop: "x", mode: "some" }, "mode", '`mode` must be "auto", or must be "none".'],
    [{ stop: "x", mode: "auto", heat: "hot" }, "heat", "`heat` must be of type number or null."],
    [{ stop: "x", mode: "auto", heat: 3 }, "heat", "`heat` must be <= 2."],
  ])("%j gets all members, or the problem in the nearest one", (value, param, sentence) => {
    expect(findProblem(schema, value)).toEqual({ code: "invalid_parameter", param, message: sentence });
  });

  test("a body that is not an object has no param", () => {
    expect(findProblem(schema, [])).toEqual({
      code: "invalid_parameter",
      param: null,
      message: "The body must be of type object.",
    });
  });
});
