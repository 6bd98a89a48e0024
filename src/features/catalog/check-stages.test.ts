import { describe, expect, test } from "vitest";
import { type CatalogSurroundings, checkCatalog } from "./check-catalog.ts";
import { parseCatalog } from "./parse-catalog.ts";

const surroundings: CatalogSurroundings = {
  currency: "USD",
  planIds: new Set(["pro", "free"]),
  accountIds: new Set(["acct_1"]),
  hasSecret: () => false,
  findPackageFault: () => null,
};

/** The models that `soap` is made with are not for sale: only two of them have a price. */
const right = `currency: USD
providers: [{ id: toy, kind: sandbox }]
models:
  - id: soap
    name: Soap
    type: drama
    capabilities: [script_generation, role_analysis, storyboard, drama_video]
    stages:
      script: { chat: talk }
      roles: { chat: talk }
      storyboard: { chat: talk, image: draw }
      video: { video: film, speech: say, avatar: face }
  - { id: talk, name: T, type: chat, capabilities: [chat, json_schema], routes: [{ provider: toy, upstream_model: t }] }
  - { id: draw, name: D, type: image, capabilities: [text_to_image], routes: [{ provider: toy, upstream_model: d }] }
  - { id: film, name: F, type: video, capabilities: [text_to_video], routes: [{ provider: toy, upstream_model: f }] }
  - { id: face, name: A, type: avatar, capabilities: [audio_driven_avatar], plans: [pro] }
  - { id: say, name: S, type: speech, capabilities: [text_to_speech], limits: { voices: [nova] } }
prices:
  - { model: soap, capability: script_generation, billing_type: per_call, unit: call, price: 1 }
  - { model: soap, capability: role_analysis, billing_type: per_call, unit: call, price: 1 }
  - { model: soap, capability: storyboard, billing_type: per_call, unit: call, price: 1 }
  - { model: soap, capability: drama_video, billing_type: duration, unit: second, price: 1 }
  - { model: film, billing_type: duration, unit: second, price: 1, plan: pro }
`;

/** Changes the first place that says each. */
function edit(...changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((source, [from, to]) => {
    expect(source).toContain(from);
    return source.replace(from, () => to);
  }, right);
}

/** Every problem as `path: message`. */
function listProblems(source: string): string[] {
  const parsed = parseCatalog(source);
  const problems =
    parsed.kind === "malformed" ? parsed.problems : checkCatalog(parsed.file, surroundings).map(parsed.locate);
  return problems.map(({ path, message }) => `${path}: ${message}`);
}

/** The drama with other capabilities and stages, at a price for all of it; the others need none without routes. */
function drama(capabilities: string, stages: string): string {
  const before = right.slice(0, right.indexOf("    capabilities:"));
  const others = right.slice(right.indexOf("  - { id: talk"), right.indexOf("prices:")).replaceAll(/, routes.*\]/g, "");
  const price = "  - { model: soap, billing_type: per_call, unit: call, price: 1 }\n";
  return `${before}    capabilities: [${capabilities}]\n    stages: { ${stages} }\n${others}prices:\n${price}`;
}

const script = "script: { chat: talk }";
const roles = "roles: { chat: talk }";
const storyboard = "storyboard: { chat: talk, image: draw }";
const video = "video: { video: film, speech: say }";

test("a drama that names a model for each of its stages has no problem, whoever may call those models", () => {
  expect(listProblems(right)).toEqual([]);
});

test("a drama can do without avatars, and an exported one says that it has no routes", () => {
  expect(listProblems(edit([", avatar: face", ""]))).toEqual([]);
  expect(listProblems(edit(["    stages:\n", "    routes: []\n    stages:\n"]))).toEqual([]);
});

test("a model that no drama names still needs a price to have routes", () => {
  const unused = edit(
    ["image: draw }", "image: other }"],
    ["models:", "models:\n  - { id: other, name: O, type: image, capabilities: [text_to_image] }"],
  );
  expect(listProblems(unused)).toEqual([
    'models[3].routes: draw has routes but no price; a free model has a price of "0".',
  ]);
});

describe("stages and routes are of one kind of model each", () => {
  test("other models have no stages", () => {
    const film = edit(["[text_to_video], routes", "[text_to_video], stages: {}, routes"]);
    expect(listProblems(film)).toEqual(["models[3].stages: Only drama models have stages."]);
  });

  test("a drama has no routes", () => {
    const routed = edit(["    stages:\n", "    routes: [{ provider: toy, upstream_model: drama }]\n    stages:\n"]);
    expect(listProblems(routed)).toEqual([
      "models[0].routes: A drama model has no routes: the models of its stages do the work.",
    ]);
  });
});

describe("the stages of a drama", () => {
  test.each([
    ["script_generation", [script]],
    ["role_analysis", [script, roles]],
    ["storyboard", [script, roles, storyboard]],
    ["script_generation, storyboard", [script, roles, storyboard]],
    ["drama_video", [script, roles, storyboard, video]],
  ])("for %s are exactly those up to the last", (capabilities, stages) => {
    expect(listProblems(drama(capabilities, stages.join(", ")))).toEqual([]);
    const names = stages.map((stage) => stage.split(":")[0]);
    expect(listProblems(drama(capabilities, ""))).toEqual([
      `models[0].stages: soap needs these stages too: ${names.join(", ")}. Each goes on from the one before.`,
    ]);
    const more = [script, roles, storyboard, video].filter((stage) => !stages.includes(stage));
    const all = [...stages, ...more].join(", ");
    expect(listProblems(drama(capabilities, all)).map((told) => told.split(":")[0])).toEqual(
      more.map((stage) => `models[0].stages.${stage.split(":")[0]}`),
    );
  });

  test("that nothing is offered of are told by the capability that they lack", () => {
    expect(listProblems(drama("script_generation", [script, video].join(", ")))).toEqual([
      "models[0].stages.video: soap does not have the capability drama_video.",
    ]);
  });

  test("are missed where a drama has none at all", () => {
    const [before = "", after = ""] = right.split(/ {4}stages:\n(?: {6}.*\n)+/);
    // Then nothing says that the others are parts of it, either.
    expect(listProblems(before + after)).toEqual([
      "models[0].stages: soap needs these stages too: script, roles, storyboard, video. Each goes on from the one before.",
      expect.stringContaining("talk has routes but no price"),
      expect.stringContaining("draw has routes but no price"),
    ]);
  });

  test.each([
    [
      "models[0].stages.script.image: There is no field image here.",
      "script: { chat: talk",
      "script: { chat: talk, image: draw",
    ],
    ["models[0].stages.storyboard: image is required.", ", image: draw", ""],
    ["models[0].stages.video: speech is required.", " speech: say,", ""],
    [
      "models[0].stages.music: There is no field music here.",
      "      roles:",
      "      music: { chat: talk }\n      roles:",
    ],
  ])("have a form: %s", (problem, from, to) => {
    expect(listProblems(edit([from, to]))).toEqual([problem]);
  });
});

describe("a model of a stage", () => {
  test.each([
    ["models[0].stages.script.chat: There is no model gone in this file.", "chat: talk", "chat: gone"],
    ["models[0].stages.video.avatar: There is no model gone in this file.", "avatar: face", "avatar: gone"],
    ["models[0].stages.roles.chat: The type of draw is image, not chat.", "roles: { chat: talk", "roles: { chat: draw"],
    ["models[0].stages.storyboard.image: The type of film is video, not image.", "image: draw", "image: film"],
    ["models[0].stages.video.video: The type of soap is drama, not video.", "{ video: film", "{ video: soap"],
    ["models[0].stages.video.avatar: The type of say is speech, not avatar.", "avatar: face", "avatar: say"],
    ["models[0].stages.video.speech: say has no limits.voices, of which", ", limits: { voices: [nova] }", ""],
  ])("%s", (problem, from, to) => {
    const told = listProblems(edit([from, to])).filter((line) => !line.includes("has routes but no price"));
    expect(told.map((line) => line.slice(0, problem.length))).toEqual([problem]);
  });

  test("that writes documents can write what it is asked for", () => {
    const places = ["script", "roles", "storyboard"].map((stage) => `models[0].stages.${stage}.chat`);
    expect(listProblems(edit([", json_schema", ""]))).toEqual(
      places.map((place) => `${place}: talk is asked for documents: it needs the capability json_schema.`),
    );
  });
});

describe("the prices of a drama", () => {
  const priceOf = (capability: string) =>
    `  - { model: soap, capability: ${capability}, billing_type: per_call, unit: call, price: 1 }\n`;
  const missing = (what: string, who = "") => `models[0].capabilities: There is no price for ${what}${who}.`;

  test("are for all that it offers", () => {
    expect(listProblems(edit([priceOf("role_analysis"), ""]))).toEqual([missing("role_analysis")]);
    expect(listProblems(edit([priceOf("script_generation"), ""], [priceOf("storyboard"), ""]))).toEqual([
      missing("script_generation, storyboard"),
    ]);
    const none = right.slice(0, right.indexOf("prices:"));
    expect(listProblems(`${none}prices: []\n`)).toContain(
      missing("script_generation, role_analysis, storyboard, drama_video"),
    );
  });

  test("may be one for all, or for what has none of its own", () => {
    const rest = "  - { model: soap, billing_type: per_call, unit: call, price: 1 }\n";
    expect(listProblems(edit([priceOf("role_analysis"), rest], [priceOf("storyboard"), ""]))).toEqual([]);
  });

  test("are there for everybody who is offered the model, each in its own way", () => {
    const pro = priceOf("role_analysis").replace("price: 1", "price: 1, plan: pro");
    const own = priceOf("role_analysis").replace("price: 1", "price: 1, account: acct_1");
    expect(listProblems(edit([priceOf("role_analysis"), pro]))).toEqual([missing("role_analysis")]);
    expect(listProblems(edit([priceOf("role_analysis"), own]))).toEqual([missing("role_analysis")]);
    const onlyPro = right.replaceAll("price: 1 }", "price: 1, plan: pro }");
    expect(listProblems(onlyPro)).toEqual([]);
    expect(listProblems(onlyPro.replace("plan: pro", "plan: free"))).toEqual([
      missing("role_analysis, storyboard, drama_video", " that the plan free would pay"),
      missing("script_generation", " that the plan pro would pay"),
    ]);
    // The account may well be on the plan.
    expect(listProblems(onlyPro + own)).toEqual([]);
    const onlyOwn = right.replaceAll("price: 1 }", "price: 1, account: acct_1 }");
    expect(listProblems(onlyOwn)).toEqual([]);
    expect(listProblems(onlyOwn.replace(own, ""))).toEqual([missing("role_analysis", " that acct_1 would pay")]);
  });

  test("are by the second only for what has a length", () => {
    const problem = "Of a drama's stages only drama_video has a length: name it as the capability.";
    const bySecond = ["billing_type: per_call, unit: call", "billing_type: duration, unit: second"] as const;
    expect(listProblems(edit(bySecond))).toEqual([`prices[0].unit: ${problem}`]);
    const forAll = ["capability: script_generation, billing_type: per_call, unit: call", bySecond[1]] as const;
    expect(listProblems(edit(forAll))).toEqual([`prices[0].unit: ${problem}`]);
    expect(listProblems(edit([bySecond[1], bySecond[0]]))).toEqual([]);
  });
});
