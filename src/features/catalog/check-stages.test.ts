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

/** The models of `soap`'s stages are not for sale: only two of them have a price. */
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

/** Replaces the first occurrence of each. */
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

/**
 * The drama with other capabilities and stages, and one price for all. The other models have no routes and so need
 * none.
 */
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

test("a drama with a model for each stage has no problem, whatever the plans of those models", () => {
  expect(listProblems(right)).toEqual([]);
});

test("a drama needs no avatar model, and an exported one has an empty list of routes", () => {
  expect(listProblems(edit([", avatar: face", ""]))).toEqual([]);
  expect(listProblems(edit(["    stages:\n", "    routes: []\n    stages:\n"]))).toEqual([]);
});

test("a model that no drama names needs a price to have routes", () => {
  const unused = edit(
    ["image: draw }", "image: other }"],
    ["models:", "models:\n  - { id: other, name: O, type: image, capabilities: [text_to_image] }"],
  );
  expect(listProblems(unused)).toEqual([
    'models[3].routes: draw has routes but no price. Add one under prices; a free model has the price "0".',
  ]);
});

describe("stages and routes exclude each other", () => {
  test("other models have no stages", () => {
    const film = edit(["[text_to_video], routes", "[text_to_video], stages: {}, routes"]);
    expect(listProblems(film)).toEqual(["models[3].stages: stages works only with drama models. Remove it from film."]);
  });

  test("a drama has no routes", () => {
    const routed = edit(["    stages:\n", "    routes: [{ provider: toy, upstream_model: drama }]\n    stages:\n"]);
    expect(listProblems(routed)).toEqual([
      "models[0].routes: A drama model has no routes of its own: its stages name the models. Remove routes.",
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
  ])("for %s are all up to the last one offered", (capabilities, stages) => {
    expect(listProblems(drama(capabilities, stages.join(", ")))).toEqual([]);
    const names = stages.map((stage) => stage.split(":")[0]);
    expect(listProblems(drama(capabilities, ""))).toEqual([
      `models[0].stages: soap lacks these stages: ${names.join(", ")}. Add them: each stage starts from the previous one's result.`,
    ]);
    const more = [script, roles, storyboard, video].filter((stage) => !stages.includes(stage));
    const all = [...stages, ...more].join(", ");
    expect(listProblems(drama(capabilities, all)).map((told) => told.split(":")[0])).toEqual(
      more.map((stage) => `models[0].stages.${stage.split(":")[0]}`),
    );
  });

  test("without a capability are rejected by its name", () => {
    expect(listProblems(drama("script_generation", [script, video].join(", ")))).toEqual([
      "models[0].stages.video: soap does not have the capability drama_video. Add it, or remove the stage video.",
    ]);
  });

  test("are required", () => {
    const [before = "", after = ""] = right.split(/ {4}stages:\n(?: {6}.*\n)+/);
    // Then the other models are not known to be its parts, either.
    expect(listProblems(before + after)).toEqual([
      "models[0].stages: soap lacks these stages: script, roles, storyboard, video. Add them: each stage starts from the previous one's result.",
      expect.stringContaining("talk has routes but no price"),
      expect.stringContaining("draw has routes but no price"),
    ]);
  });

  test.each([
    [
      "models[0].stages.script.image: There is no field image here. Remove it, or correct its name.",
      "script: { chat: talk",
      "script: { chat: talk, image: draw",
    ],
    ["models[0].stages.storyboard: image is missing. Add it.", ", image: draw", ""],
    ["models[0].stages.video: speech is missing. Add it.", " speech: say,", ""],
    [
      "models[0].stages.music: There is no field music here. Remove it, or correct its name.",
      "      roles:",
      "      music: { chat: talk }\n      roles:",
    ],
  ])("have a form: %s", (problem, from, to) => {
    expect(listProblems(edit([from, to]))).toEqual([problem]);
  });
});

describe("a model of a stage", () => {
  test.each([
    [
      "models[0].stages.script.chat: There is no model gone in this file. Add it under models, or correct the name.",
      "chat: talk",
      "chat: gone",
    ],
    [
      "models[0].stages.video.avatar: There is no model gone in this file. Add it under models, or correct the name.",
      "avatar: face",
      "avatar: gone",
    ],
    [
      "models[0].stages.roles.chat: draw is of type image. Name a model of type chat.",
      "roles: { chat: talk",
      "roles: { chat: draw",
    ],
    [
      "models[0].stages.storyboard.image: film is of type video. Name a model of type image.",
      "image: draw",
      "image: film",
    ],
    [
      "models[0].stages.video.video: soap is of type drama. Name a model of type video.",
      "{ video: film",
      "{ video: soap",
    ],
    [
      "models[0].stages.video.avatar: say is of type speech. Name a model of type avatar.",
      "avatar: face",
      "avatar: say",
    ],
    ["models[0].stages.video.speech: say has no limits.voices.", ", limits: { voices: [nova] }", ""],
  ])("%s", (problem, from, to) => {
    const told = listProblems(edit([from, to])).filter((line) => !line.includes("has routes but no price"));
    expect(told.map((line) => line.slice(0, problem.length))).toEqual([problem]);
  });

  test("that writes structured documents has the capability json_schema", () => {
    const places = ["script", "roles", "storyboard"].map((stage) => `models[0].stages.${stage}.chat`);
    expect(listProblems(edit([", json_schema", ""]))).toEqual(
      places.map(
        (place) =>
          `${place}: talk lacks the capability json_schema, which this stage needs. Add it, or name another model.`,
      ),
    );
  });
});

describe("the prices of a drama", () => {
  const priceOf = (capability: string) =>
    `  - { model: soap, capability: ${capability}, billing_type: per_call, unit: call, price: 1 }\n`;
  const missing = (what: string, who = "") =>
    `models[0].capabilities: soap has no price for ${what}${who}. Add one for each, or one without a capability.`;

  test("cover every capability", () => {
    expect(listProblems(edit([priceOf("role_analysis"), ""]))).toEqual([missing("role_analysis")]);
    expect(listProblems(edit([priceOf("script_generation"), ""], [priceOf("storyboard"), ""]))).toEqual([
      missing("script_generation, storyboard"),
    ]);
    const none = right.slice(0, right.indexOf("prices:"));
    expect(listProblems(`${none}prices: []\n`)).toContain(
      missing("script_generation, role_analysis, storyboard, drama_video"),
    );
  });

  test("may be one for all, or one for the capabilities without their own", () => {
    const rest = "  - { model: soap, billing_type: per_call, unit: call, price: 1 }\n";
    expect(listProblems(edit([priceOf("role_analysis"), rest], [priceOf("storyboard"), ""]))).toEqual([]);
  });

  test("cover every audience that is offered the model", () => {
    const pro = priceOf("role_analysis").replace("price: 1", "price: 1, plan: pro");
    const own = priceOf("role_analysis").replace("price: 1", "price: 1, account: acct_1");
    expect(listProblems(edit([priceOf("role_analysis"), pro]))).toEqual([missing("role_analysis")]);
    expect(listProblems(edit([priceOf("role_analysis"), own]))).toEqual([missing("role_analysis")]);
    const onlyPro = right.replaceAll("price: 1 }", "price: 1, plan: pro }");
    expect(listProblems(onlyPro)).toEqual([]);
    expect(listProblems(onlyPro.replace("plan: pro", "plan: free"))).toEqual([
      missing("role_analysis, storyboard, drama_video", " that applies to the plan free"),
      missing("script_generation", " that applies to the plan pro"),
    ]);
    // The account may well be on the plan.
    expect(listProblems(onlyPro + own)).toEqual([]);
    const onlyOwn = right.replaceAll("price: 1 }", "price: 1, account: acct_1 }");
    expect(listProblems(onlyOwn)).toEqual([]);
    expect(listProblems(onlyOwn.replace(own, ""))).toEqual([missing("role_analysis", " that applies to acct_1")]);
  });

  test("are by the second only for video", () => {
    const problem = "Only a drama's video is priced by second. Add capability: drama_video.";
    const bySecond = ["billing_type: per_call, unit: call", "billing_type: duration, unit: second"] as const;
    expect(listProblems(edit(bySecond))).toEqual([`prices[0].unit: ${problem}`]);
    const forAll = ["capability: script_generation, billing_type: per_call, unit: call", bySecond[1]] as const;
    expect(listProblems(edit(forAll))).toEqual([`prices[0].unit: ${problem}`]);
    expect(listProblems(edit([bySecond[1], bySecond[0]]))).toEqual([]);
  });
});
