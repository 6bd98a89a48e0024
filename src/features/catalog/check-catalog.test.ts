import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CatalogSurroundings, checkCatalog } from "./check-catalog.ts";
import { parseCatalog } from "./parse-catalog.ts";

const surroundings: CatalogSurroundings = {
  currency: "USD",
  planIds: new Set(["pro"]),
  accountIds: new Set(["acct_1"]),
  hasSecret: (name) => name === "MAIN_KEY",
  findPackageFault: () => null,
};

const right = `currency: USD
providers:
  - { id: main, kind: openai-compatible, base_url: "https://example.com/v1", api_keys: ["\${MAIN_KEY}"] }
  - { id: toy, kind: sandbox }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, tools]
    limits: { context_window: 8 }
    plans: [pro]
    created_at: 2026-01-01T00:00:00Z
    deprecated_at: 2026-02-01T00:00:00Z
    shutdown_date: 2026-03-01T00:00:00Z
    routes: [{ provider: main, upstream_model: talk-1 }]
  - { id: film, name: Film, type: video, capabilities: [text_to_video], routes: [] }
prices:
  - { model: talk, billing_type: token, unit: 1K tokens, input_price: 0.1, output_price: 0.2, cached_input_price: 0 }
  - { model: film, billing_type: duration, unit: second, price: 1.5, minimum_charge: 3 }
  - { model: film, billing_type: per_call, unit: call, price: 2, plan: pro, capability: text_to_video }
  - { model: film, billing_type: per_call, unit: call, price: 2, account: acct_1, effective_at: 2026-01-01T00:00:00Z }
`;

/** Replaces the first occurrence. */
function edit(from: string, to: string): string {
  expect(right).toContain(from);
  return right.replace(from, () => to);
}

/** Every problem as `path: message`. */
function listProblems(source: string, around: CatalogSurroundings = surroundings): string[] {
  const parsed = parseCatalog(source);
  if (parsed.kind === "malformed") throw new Error(JSON.stringify(parsed.problems));
  const located = checkCatalog(parsed.file, around).map(parsed.locate);
  return located.map(({ path, message }) => `${path}: ${message}`);
}

/** Each case: how the only problem begins, and the edit that causes it. */
function describeProblems(title: string, cases: readonly (readonly [string, string, string])[]): void {
  describe(title, () => {
    test.each(cases)("%s", (problem, from, to) => {
      expect(listProblems(edit(from, to)).map((told) => told.slice(0, problem.length))).toEqual([problem]);
    });
  });
}

test("the problem of a chat provider that is used for media names the vendor's kinds for media", () => {
  const source = edit('kind: openai-compatible, base_url: "https://example.com/v1"', "kind: google").replace(
    "routes: [] }",
    "routes: [{ provider: main, upstream_model: veo-3.1-generate-preview }] }",
  );
  expect(listProblems(source)).toContainEqual(
    expect.stringContaining(
      "Providers of kind google serve chat, embedding, not video. For the same vendor's video, add a provider of kind google-media or vertex-media.",
    ),
  );
});

test("a valid file has no problem", () => {
  expect(listProblems(right)).toEqual([]);
});

test("webhook_secret is for kinds that sign with a secret of the account", () => {
  const list = (kind: string) =>
    listProblems(`currency: USD
providers: [{ id: v, kind: ${kind}, api_keys: [${key}], webhook_secret: ${key} }]
models: []
prices: []
`);
  for (const kind of ["replicate", "heygen"]) expect(list(kind)).toEqual([]);
  for (const kind of ["kling", "black-forest-labs", "fal"]) {
    expect(list(kind)).toEqual([
      `providers[0].webhook_secret: Kind ${kind} does not sign callbacks with a secret of your account. Remove webhook_secret.`,
    ]);
  }
});

test("the sandbox catalog has no problem, and needs no plans, accounts or secrets", () => {
  const source = readFileSync(join(import.meta.dirname, "../../../catalogs/sandbox.yaml"), "utf8");
  const bare = {
    currency: "USD",
    planIds: new Set<string>(),
    accountIds: new Set<string>(),
    hasSecret: () => false,
    findPackageFault: () => null,
  };
  expect(listProblems(source, bare)).toEqual([]);
});

test("an embedding model is priced by its input alone", () => {
  const price = "{ model: near, billing_type: token, unit: 1K tokens, input_price: 0.1";
  const models = "models: [{ id: near, name: N, type: embedding, capabilities: [text_embedding, dimensions] }]";
  const write = (more: string) => `currency: USD\nproviders: []\n${models}\nprices: [${price}${more} }]\n`;
  expect(listProblems(write(""))).toEqual([]);
  expect(listProblems(write(", output_price: 0"))).toEqual([]);
  expect(listProblems(write(", output_price: 0.2"))).toEqual([
    "prices[0].output_price: An embedding model has no output tokens. Remove output_price.",
  ]);
});

test("every problem is reported, not only the first", () => {
  const wrong = right.replaceAll("plan: pro", "plan: gold").replaceAll("[pro]", "[gold, iron]");
  const [first, second, third, ...others] = listProblems(wrong);
  expect([first, second]).toEqual([
    "models[0].plans[0]: There is no plan gold. Create it first: plan create gold",
    "models[0].plans[1]: There is no plan iron. Create it first: plan create iron",
  ]);
  expect([third, others]).toEqual(["prices[2].plan: There is no plan gold. Create it first: plan create gold", []]);
});

const key = `"\${MAIN_KEY}"`;

test("what an endpoint of fal cannot do is a problem", () => {
  const list = (type: string, limits: string, model: string) =>
    listProblems(`currency: USD
providers: [{ id: f, kind: fal, api_keys: [${key}] }]
models: [{ id: m, name: M, type: ${type}, capabilities: [text_to_${type}], limits: { ${limits} }, routes: [{ provider: f, upstream_model: ${model} }] }]
prices: [{ model: m, billing_type: per_call, unit: call, price: 1 }]
`).map((problem) => problem.replace(/(?<=Map|Name).*$/, ""));
  expect(list("video", 'durations: [4, 8], aspect_ratios: ["16:9"]', "fal-ai/veo3")).toEqual([]);
  expect(list("video", "durations: [4, 7], frame_rate: [24]", "fal-ai/veo3")).toEqual([
    "models[0].limits.durations: No route of m can do duration 7. Map",
    "models[0].limits.frame_rate: No route of m can do frame_rate 24. Map",
  ]);
  expect(list("video", "durations: [5]", "fal-ai/flux/dev")).toContain(
    "models[0].routes[0].upstream_model: fal-ai/flux/dev makes image, not video. Name",
  );
});

describe("routes of media models", () => {
  /** A video model on fal, with its limits and the rest of its route. */
  function listFilmProblems(
    limits: string,
    route: string,
    { type = "video", capability = "text_to_video" } = {},
  ): string[] {
    const model = `{ id: film, name: Film, type: ${type}, capabilities: [${capability}], limits: { ${limits} },
      routes: [{ provider: f, upstream_model: a/b, ${route} }] }`;
    return listProblems(`currency: USD
providers: [{ id: f, kind: fal, api_keys: [${key}] }, { id: toy, kind: sandbox }]
models: [${model}]
prices: [{ model: film, billing_type: per_call, unit: call, price: 1 }]
`);
  }

  test.each([
    ["resolution: [720p, 1080p], seed: true, audio: [true, false]", "priority: 0"],
    ["durations: [5, 10]", "fields: { duration: { field: length, as: seconds, only: [5, 10] } }"],
    ["durations: [5]", "fields: { duration: { only: [5] } }, parameters: { enhance: { deep: [1] } }"],
    ["last_image: true", "fields: { last_image: tail_image_url }, capability: text_to_video"],
  ])("%s with %s", (limits, route) => {
    expect(listFilmProblems(limits, route)).toEqual([]);
  });

  test.each([
    [
      "models[0].routes[0].fields.size: video requests have no field size. Use: prompt, duration,",
      ["", "fields: { size: image_size }"],
    ],
    ["models[0].routes[0].capability: film does not have the capability chat.", ["", "capability: chat"]],
    [
      "models[0].limits.durations: No route of film can do duration 10. Map duration in the fields of a route,",
      ["durations: [5, 10]", "fields: { duration: { only: [5] } }"],
    ],
    [
      "models[0].limits.resolution: No route of film can do resolution 4k.",
      ["resolution: [hd, 4k]", "fields: { resolution: { field: size, values: { hd: 720 } } }"],
    ],
  ] as const)("%s", (problem, [limits, route]) => {
    expect(listFilmProblems(limits, route).map((told) => told.slice(0, problem.length))).toEqual([problem]);
  });

  test("a limit of another type, and voices of a model without them, are problems", () => {
    expect(listFilmProblems("instructions: true", "priority: 0")).toEqual([
      expect.stringContaining("models[0].limits.instructions: video models don't have the limit instructions."),
    ]);
    expect(listFilmProblems("", "voices: { alloy: Rachel }")).toEqual([
      "models[0].routes[0].voices.alloy: alloy is not among the model's limits.voices. Add it there, or remove it.",
    ]);
  });

  test("chat models and the sandbox have no fields to map", () => {
    expect(listProblems(edit("upstream_model: talk-1 }", "upstream_model: talk-1, parameters: { a: 1 } }"))).toEqual([
      "models[0].routes[0].parameters: parameters works only with models that make media. Remove it.",
    ]);
    const film = "text_to_video], routes: [{ provider: toy, upstream_model: v, fields: { prompt: text } }] }";
    expect(listProblems(edit("text_to_video], routes: [] }", film))).toEqual([
      "models[1].routes[0].fields: Providers of kind sandbox have fixed fields for video. Remove fields.",
    ]);
  });

  test("every capability has a route", () => {
    const problems = listFilmProblems("", "capability: text_to_video", { capability: "text_to_video, image_to_video" });
    expect(problems).toEqual(["models[0].capabilities[1]: No route of film serves image_to_video. Add one."]);
  });
});

describeProblems("one currency", [
  ["currency: The catalog's currency is EUR, but this deployment uses USD.", "currency: USD", "currency: EUR"],
  ["prices[1].currency: This price is in EUR, but the catalog is in USD.", "price: 1.5", "price: 1.5, currency: EUR"],
]);

describeProblems("an invalid provider", [
  ["providers[1].id: providers[0] already has the id main.", "id: toy", "id: main"],
  ['providers[1].id: "t o y" is not a valid provider id.', "id: toy", "id: t o y"],
  ["providers[1]: Provider toy has no base_url.", "toy, kind: sandbox", "toy, kind: openai-compatible"],
  ["providers[1]: Provider toy has no api_keys.", "toy, kind: sandbox", "toy, kind: fal"],
  ["providers[0].api_keys[0]: Don't write a key here. Name a secret", key, "sk-secret"],
  ["providers[0].api_keys[1]: Don't write a key here. Name a secret", key, `${key}, MAIN_KEY`],
  ["providers[0].api_keys[0]: Don't write a key here.", key, `"sk-\${MAIN_KEY}"`],
  ["providers[0].api_keys[1]: The secret GONE is not set.", key, `${key}, "\${GONE}"`],
]);

const mainPlace = "providers[0]";
const moreOfMain = (fields: string): readonly [string, string] => [
  `api_keys: [${key}]`,
  `api_keys: [${key}], ${fields}`,
];
const keyed = `api_keys: [${key}]`;
const moreOfToy = (fields: string): readonly [string, string] => ["kind: sandbox", `kind: sandbox, ${fields}`];
const toyIs = (fields: string): readonly [string, string] => ["kind: sandbox", fields];

describeProblems("an invalid provider option", [
  [`${mainPlace}: Provider main names a package, which only kind ai-sdk has.`, ...moreOfMain("package: some")],
  ["providers[1]: Provider toy has no package.", ...toyIs("kind: ai-sdk")],
  ['providers[1].package: "../escape" is not a valid npm package name.', ...toyIs("kind: ai-sdk, package: ../escape")],
  ['providers[1].package: "@a/b/c" is not a valid npm package name.', ...toyIs('kind: ai-sdk, package: "@a/b/c"')],
  ['providers[1].package: "Some" is not a valid npm package name.', ...toyIs("kind: ai-sdk, package: Some")],
  [`${mainPlace}.auth_header: "x key" is not a valid header name.`, ...moreOfMain("auth_header: x key")],
  ["providers[1].auth_header: auth_header works only with kind", ...moreOfToy("auth_header: x-key")],
  [`${mainPlace}.idempotency_header: "x key" is not a valid header name.`, ...moreOfMain("idempotency_header: x key")],
  [
    "providers[1].idempotency_header: idempotency_header works only with kind",
    ...moreOfToy("idempotency_header: x-key"),
  ],
  ["providers[1].output_cap_field: output_cap_field works only with kind", ...moreOfToy("output_cap_field: none")],
  ["providers[1].stream_usage: stream_usage works only with kind", ...moreOfToy("stream_usage: false")],
  ["providers[1].trace_context: trace_context works only with kind", ...moreOfToy("trace_context: true")],
  ["providers[1].native_wires: native_wires works only with kind", ...moreOfToy("native_wires: [messages]")],
  ["providers[1].system_role: system_role works only with kind", ...moreOfToy("system_role: system")],
  ["providers[1].unsupported_fields: unsupported_fields works only", ...moreOfToy("unsupported_fields: [seed]")],
  [`${mainPlace}.headers.x y: "x y" is not a valid header name.`, ...moreOfMain('headers: { "x y": a }')],
  [`${mainPlace}.headers.x-a: The value of the header x-a must be`, ...moreOfMain('headers: { x-a: "\\n" }')],
  [`${mainPlace}.headers.x-a: The value of the header x-a must be`, ...moreOfMain("headers: { x-a: ü }")],
  [`${mainPlace}.headers.x-a: The secret GONE is not set.`, ...moreOfMain(`headers: { x-a: "\${GONE}" }`)],
]);

test("a provider may have every option of its kind", () => {
  const options = `auth_header: api-key, idempotency_header: idempotency-key, output_cap_field: max_tokens, stream_usage: false, system_role: system,
    unsupported_fields: [seed], native_wires: [responses, messages], connections_max: 5, trace_context: true, headers: { x-team: "blue 7", x-key: ${key} },
    timeouts: { connect_ms: 1, first_byte_ms: 2, idle_ms: 3, total_ms: 4 }`;
  expect(listProblems(edit(...moreOfMain(options)))).toEqual([]);
  const kinds = [
    "kind: anthropic",
    "kind: google",
    'kind: ai-sdk, package: "@ai-sdk/mistral"',
    "kind: ai-sdk, package: a",
    `kind: bedrock, region: us-gov-west-1, ${keyed}`,
    `kind: bedrock-media, region: us-west-2, role_arn: "arn:aws:iam::123456789012:role/a/b", external_id: x-1, sts_url: "https://vpce-1.sts.us-west-2.vpce.amazonaws.com", ${keyed}`,
    `kind: vertex, project: mine-1, location: europe-west1, publisher: anthropic, ${keyed}`,
    `kind: azure, resource: mine, api_version: 2025-04-01-preview, native_wires: [responses], ${keyed}`,
  ];
  for (const kind of kinds) expect(listProblems(edit(...toyIs(kind))), kind).toEqual([]);
});

describeProblems("an invalid account at a vendor", [
  [
    "providers[1]: Provider toy has no region. Add the AWS region, such as us-east-1.",
    ...toyIs(`kind: bedrock, ${keyed}`),
  ],
  [
    'providers[1].region: "Ireland" is not the AWS region. Write one',
    ...toyIs(`kind: bedrock, region: Ireland, ${keyed}`),
  ],
  [
    "providers[1]: Provider toy has no api_keys. Name a secret, such as ${BEDROCK_KEY}.",
    ...toyIs("kind: bedrock, region: us-east-1"),
  ],
  [
    "providers[1]: Provider toy has no project. Add the id of the",
    ...toyIs(`kind: vertex, location: global, ${keyed}`),
  ],
  [
    'providers[1].location: "US" is not the Google Cloud',
    ...toyIs(`kind: vertex, project: mine-1, location: US, ${keyed}`),
  ],
  ["providers[1]: Provider toy has no resource. Add the name", ...toyIs(`kind: azure, ${keyed}`)],
  ['providers[1].resource: "a.b" is not the name of the Azure', ...toyIs(`kind: azure, resource: a.b, ${keyed}`)],
  [
    "providers[1].base_url: Provider toy has resource and base_url.",
    ...toyIs(`kind: azure, resource: a, base_url: "https://a.example", ${keyed}`),
  ],
  [
    "providers[1].api_version: api_version needs resource.",
    ...toyIs(`kind: azure, api_version: 2024-10-21, base_url: "https://a.example", ${keyed}`),
  ],
  [
    'providers[1].api_version: "v1" is not the version',
    ...toyIs(`kind: azure, resource: a, api_version: v1, ${keyed}`),
  ],
  [
    "providers[1].auth_header: auth_header works only",
    ...toyIs(`kind: azure, resource: a, auth_header: x-key, ${keyed}`),
  ],
  [
    'providers[1].role_arn: "sluice" is not the ARN of the role to assume. Write one',
    ...toyIs(`kind: bedrock, region: us-east-1, role_arn: sluice, ${keyed}`),
  ],
  [
    "providers[1].external_id: external_id is for a role. Add role_arn, or remove external_id",
    ...toyIs(`kind: bedrock-media, region: us-east-1, external_id: x-1, ${keyed}`),
  ],
  [
    'providers[1].sts_url: "http://sts.example" is not the address',
    ...toyIs(
      `kind: bedrock, region: us-east-1, role_arn: "arn:aws:iam::123456789012:role/a", sts_url: "http://sts.example", ${keyed}`,
    ),
  ],
  [
    `${mainPlace}.role_arn: role_arn works only with kind bedrock or bedrock-media.`,
    ...moreOfMain('role_arn: "arn:aws:iam::123456789012:role/a"'),
  ],
  [`${mainPlace}.region: region works only with kind bedrock or bedrock-media.`, ...moreOfMain("region: us-east-1")],
  [`${mainPlace}.publisher: publisher works only with kind vertex.`, ...moreOfMain("publisher: google")],
]);

test("a package that cannot be used is rejected with the fix", () => {
  const fault = { message: "The package a is not installed.", remedy: "Install it." };
  const around = { ...surroundings, findPackageFault: (name: string) => (name === "a" ? fault : null) };
  expect(listProblems(edit(...toyIs("kind: ai-sdk, package: a")), around)).toEqual([
    "providers[1].package: The package a is not installed. Install it.",
  ]);
  expect(listProblems(edit(...toyIs("kind: ai-sdk, package: b")), around)).toEqual([]);
});

describe("a provider's address", () => {
  const withAddress = (address: string): string => edit("https://example.com/v1", address);

  const schemes = "base_url must start with https://, or with http:// on this machine or a private network.";
  const secrets = "base_url must not contain a user name or password. Use api_keys or headers.";
  const beyond = (origin: string): string =>
    `${origin} is not on this machine. Use https, or add allow_http: true to the provider.`;

  test.each([
    ["http://example.com", beyond("http://example.com")],
    ["http://127.0.0.1.example.com", beyond("http://127.0.0.1.example.com")],
    ["http://localhost.example.com", beyond("http://localhost.example.com")],
    ["http://10.0.0.1", beyond("http://10.0.0.1")],
    ["ftp://example.com", schemes],
    ["file:///etc/passwd", schemes],
    ["example.com", schemes],
    ["https://user@example.com", secrets],
    ["https://:password@example.com", secrets],
    ["https://example.com/v1#part", "base_url must not contain a fragment. Remove #part, which is never sent."],
  ])("%s is rejected", (address, message) => {
    expect(listProblems(withAddress(address))).toEqual([`providers[0].base_url: ${message}`]);
  });

  test.each([
    "https://example.com:8443/v1",
    "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
    "http://localhost:8080/v1",
    "http://127.0.0.1:8080",
    "http://127.8.8.8",
  ])("%s is fine", (address) => {
    expect(listProblems(withAddress(address))).toEqual([]);
  });

  const allowing = (address: string): string =>
    edit('base_url: "https://example.com/v1"', `base_url: "${address}", allow_http: true`);

  test.each(["http://10.0.0.1/v1", "http://inference.internal:8000/v1?version=2"])(
    "%s is fine if allowed",
    (address) => {
      expect(listProblems(allowing(address))).toEqual([]);
    },
  );

  test("allow_http without an http address is rejected", () => {
    const problem =
      "providers[0].allow_http: allow_http works only with a base_url that starts with http://. Remove it.";
    expect(listProblems(allowing("https://example.com/v1"))).toEqual([problem]);
  });
});

const extra = "  - { id: /a, name: A, type: video, capabilities: [text_to_video] }\n";
const spare = "{ provider: toy, upstream_model: talk-1 }, { provider: x, upstream_model: talk-1 }";
const deprecation = "    deprecated_at: 2026-02-01T00:00:00Z\n";

const withLogo = (logo: string): readonly [string, string] => [
  "name: Talk",
  `name: Talk\n    logo: ${JSON.stringify(logo)}`,
];

test.each(["https://example.com/logo.png", "/logos/chat.svg", ""])("%s can be a logo", (logo) => {
  expect(listProblems(edit(...withLogo(logo)))).toEqual([]);
});

describeProblems("an invalid model", [
  ["models[2].id: models[1] already has the id film.", "prices:", `${extra.replace("/a", "film")}prices:`],
  ['models[2].id: "/a" is not a valid model id. Use 1 to 128 letters', "prices:", `${extra}prices:`],
  [
    "models[0].capabilities[1]: chat models don't have the capability text_to_image. Use: chat, streaming, tools, ",
    "tools]",
    "text_to_image]",
  ],
  [
    "models[0].limits.max_n: chat models don't have the limit max_n. Use: max_prompt_length, ",
    "context_window",
    "max_n",
  ],
  ["models[0].plans[1]: There is no plan gold.", "[pro]", "[pro, gold]"],
  [
    'models[0].logo: "logo.png" is not a valid logo. Use a public https address, or one of: /logos/chat.svg, ',
    ...withLogo("logo.png"),
  ],
  ['models[0].logo: "http://example.com/logo.png" is not a valid logo.', ...withLogo("http://example.com/logo.png")],
  ['models[0].logo: "/logos/other.svg" is not a valid logo.', ...withLogo("/logos/other.svg")],
  ['models[0].logo: "javascript:alert(1)" is not a valid logo.', ...withLogo("javascript:alert(1)")],
  [
    'models[0].logo: "https://user:pass@example.com/logo.png" is not a valid logo.',
    ...withLogo("https://user:pass@example.com/logo.png"),
  ],
  [
    "models[0].routes[0].provider: Providers of kind fal serve image, video, avatar, not chat. For chat, use one of these kinds: sandbox, openai-compatible, azure, anthropic, google, vertex, bedrock, ai-sdk.",
    'kind: openai-compatible, base_url: "https://example.com/v1"',
    "kind: fal",
  ],
  [
    "models[1].routes[0].provider: Providers of kind openai-compatible serve chat, embedding, transcription, image, speech, not video.",
    "routes: [] }",
    "routes: [{ provider: main, upstream_model: film-1 }] }",
  ],
  [
    "models[0].routes[0].provider: Providers of kind minimax serve video, not chat. For chat, use one of these kinds: sandbox, ",
    'kind: openai-compatible, base_url: "https://example.com/v1"',
    "kind: minimax",
  ],
  ["models[0].routes[1].provider: There is no provider x in this file.", "routes: [", `routes: [${spare}, `],
  [
    "models[0].routes: talk has routes but no price",
    "{ model: talk, billing_type: token, unit: 1K tokens, input_price: 0.1, output_price: 0.2, cached_input_price: 0 }",
    "{ account: acct_1, model: film, billing_type: per_call, unit: call, price: 1 }",
  ],
  ["models[0].shutdown_date: talk has a shutdown_date but no deprecated_at.", deprecation, ""],
  [
    'models[0].created_at: "soon" is not a time. Write it with its offset',
    "created_at: 2026-01-01T00:00:00Z",
    "created_at: soon",
  ],
  ['models[0].deprecated_at: "soon" is not a time', "2026-02-01T00:00:00Z", "soon"],
  ['models[0].shutdown_date: "soon" is not a time', "2026-03-01T00:00:00Z", "soon"],
]);

const moreOfTalk = (fields: string): readonly [string, string] => [
  "    plans: [pro]\n",
  `    plans: [pro]\n    ${fields}\n`,
];
const moreOfRoute = (fields: string): readonly [string, string] => ["talk-1 }", `talk-1, ${fields} }`];
const moreOfFilm = (fields: string): readonly [string, string] => ["type: video,", `type: video, ${fields},`];

describeProblems("an alias that is invalid or means two models", [
  ['models[0].aliases[0]: "a b" is not a valid alias.', ...moreOfTalk("aliases: [a b]")],
  ['models[0].aliases[1]: "talk" is the id of a model.', ...moreOfTalk("aliases: [chatter, talk]")],
  ["models[0].aliases[1]: talk already has the alias chatter.", ...moreOfTalk("aliases: [chatter, chatter]")],
]);

describeProblems("a routing policy without what it chooses by", [
  ["models[0].routes[0]: talk goes to its cheapest route.", ...moreOfTalk("policy: cheapest")],
  ['models[0].routes[0].cost: "dear" is not a decimal', ...moreOfRoute("cost: dear")],
  ["models[0].routes[0].cost: cost is only for a model with the policy", ...moreOfRoute('cost: "0.01"')],
]);

describeProblems("an invalid option of a model or route", [
  [
    "models[0].routes[0].passthrough: passthrough works only with the kinds openai-compatible, azure, anthropic, and toy is sandbox.",
    "routes: [",
    "routes: [{ provider: toy, upstream_model: talk-1, passthrough: [top_k] }, ",
  ],
  [
    'models[0].routes[0].passthrough[1]: "Top-K" is not a valid field name.',
    ...moreOfRoute("passthrough: [top_k, Top-K]"),
  ],
  ['models[0].routes[0].passthrough[0]: "7up" is not a valid field name.', ...moreOfRoute("passthrough: [7up]")],
  [
    "models[1].usual_output_tokens: usual_output_tokens works only with chat models.",
    ...moreOfFilm("usual_output_tokens: 5"),
  ],
  [
    "models[1].extra_parameters: extra_parameters works only with chat models.",
    ...moreOfFilm("extra_parameters: [store]"),
  ],
  [
    "models[0].usual_output_tokens: usual_output_tokens 6 exceeds max_output_tokens 5.",
    "{ context_window: 8 }",
    "{ max_output_tokens: 5 }\n    usual_output_tokens: 6",
  ],
  ["prices[0].unit: chat models can't be priced by image. Use: 1K tokens, call.", ...chatPricedBy("image")],
  ["prices[0].unit: chat models can't be priced by 1K characters.", ...chatPricedBy("1K characters")],
]);

test("a chat model may have every chat option", () => {
  const extras = "[audio, files, modalities, prediction, service_tier, store, web_search_options]";
  expect(listProblems(edit(...moreOfTalk(`usual_output_tokens: 6\n    extra_parameters: ${extras}`)))).toEqual([]);
  const route = "priority: 2, weight: 3, passthrough: [top_k, min_p], timeouts: { total_ms: 3600000 }";
  expect(listProblems(edit(...moreOfRoute(route)))).toEqual([]);
  const claude = ["toy, kind: sandbox", "toy, kind: anthropic"] as const;
  const named = [
    "routes: [",
    "routes: [{ provider: toy, upstream_model: talk-1, passthrough: [web_search] }, ",
  ] as const;
  expect(listProblems(edit(...claude).replace(...named))).toEqual([]);
  expect(listProblems(edit(...chatPricedBy("call")))).toEqual([]);
});

/** The chat model's price in another unit than tokens. */
function chatPricedBy(unit: string): readonly [string, string] {
  return [
    "billing_type: token, unit: 1K tokens, input_price: 0.1, output_price: 0.2, cached_input_price: 0",
    `billing_type: per_call, unit: ${unit}, price: 1`,
  ];
}

test.each([
  ["f".repeat(128), 0],
  ["f".repeat(129), 1],
  ["a/b.c_d:e-f", 0],
  [".a", 1],
  ["a b", 1],
  ["é", 1],
])("as a model's id, %s has %d problems", (id, count) => {
  expect(listProblems(edit("prices:", `${extra.replace("/a", `"${id}"`)}prices:`))).toHaveLength(count);
});

const again = (fields: string): string =>
  `${right}  - { model: film, billing_type: per_call, unit: call, ${fields} }\n`;

describeProblems("an invalid price", [
  ["prices[1].model: There is no model gone in this file.", "model: film", "model: gone"],
  ["prices[0].capability: talk does not have the capability vision.", "unit: 1K", "capability: vision, unit: 1K"],
  ["prices[2].plan: There is no plan gold.", "plan: pro", "plan: gold"],
  ["prices[3].account: There is no account acct_9.", "account: acct_1", "account: acct_9"],
  [
    "prices[2].account: A price applies to a plan or to an account, not both.",
    "plan: pro",
    "plan: pro, account: acct_1",
  ],
  ["prices[0].unit: billing_type token does not have the unit token. Use: 1K tokens, 1M tokens.", "1K tokens", "token"],
  ["prices[1].unit: billing_type duration does not have the unit call. Use: second.", "unit: second", "unit: call"],
  [
    "prices[2].unit: billing_type per_call does not have the unit second. Use: call, image,",
    "unit: call",
    "unit: second",
  ],
  ["prices[0]: A price with billing_type token needs input_price.", " input_price: 0.1,", ""],
  ["prices[0]: A price with billing_type token needs output_price.", " output_price: 0.2,", ""],
  ["prices[1]: A price with billing_type duration needs price.", " price: 1.5,", ""],
  ["prices[2]: A price with billing_type per_call needs price.", " price: 2,", ""],
  ["prices[0].price: A price with billing_type token can't have price.", "input_price", "price: 1, input_price"],
  [
    "prices[2].input_price: A price with billing_type per_call can't have input_price.",
    "price: 2,",
    "price: 2, input_price: 1,",
  ],
  [
    "prices[1].output_price: A price with billing_type duration can't have output_price.",
    "price: 1.5",
    "price: 1.5, output_price: 1",
  ],
  [
    "prices[1].cached_input_price: A price with billing_type duration can't have",
    "price: 1.5",
    "price: 1.5, cached_input_price: 1",
  ],
  [
    "prices[1].reasoning_price: A price with billing_type duration can't have",
    "price: 1.5",
    "price: 1.5, reasoning_price: 1",
  ],
  [
    'prices[0].cache_write_1h_price: "2e1" is not a price',
    "output_price: 0.2",
    "output_price: 0.2, cache_write_1h_price: 2e1",
  ],
  [
    'prices[0].input_price: "-0.1" is not a price. Write a decimal of 0 or more with at most nine places',
    "0.1",
    "-0.1",
  ],
  ['prices[0].output_price: "0.0000000002" is not a price', "0.2", "0.0000000002"],
  ['prices[0].cached_input_price: "1e-7" is not a price', "cached_input_price: 0", "cached_input_price: 1e-7"],
  ['prices[1].price: ".5" is not a price', "1.5", ".5"],
  ['prices[1].minimum_charge: "1,5" is not a price', "minimum_charge: 3", 'minimum_charge: "1,5"'],
  ['prices[3].effective_at: "soon" is not a time', "effective_at: 2026-01-01T00:00:00Z", "effective_at: soon"],
]);

const tokens = "unit: 1K tokens, input_price: 0.1, output_price: 0.2";

/** Tiers of the chat model, whose context window has 8 tokens. */
function tiered(items: string, more = ""): [string, string] {
  return [tokens, `${tokens}, items: [${items}]${more}`];
}

const mediaLimits = "capabilities: [text_to_video], limits: { resolution: [720p, 1080p], audio: [true, false] }";

/** Rates of the film per second. */
function ratedBySecond(items: string, rest = ""): [string, string] {
  return ["unit: second, price: 1.5", `unit: second, items: [${items}]${rest}`];
}

/** The same in a catalog whose film offers resolutions and sound. */
function listMediaProblems(items: string, rest = ""): string[] {
  const [from, to] = ratedBySecond(items, rest);
  return listProblems(edit("capabilities: [text_to_video]", mediaLimits).replace(from, () => to));
}

describeProblems("an impossible item", [
  [
    "prices[0].items[0].above_input_tokens: No input of talk is longer than its context_window of 8 tokens.",
    ...tiered("{ item: input, price: 1, above_input_tokens: 8 }"),
  ],
  [
    "prices[0].items[1]: The price already has a rate of output for these calls. Remove one.",
    ...tiered("{ item: output, price: 1, above_input_tokens: 4 }, { item: output, price: 2, above_input_tokens: 4 }"),
  ],
  [
    "prices[0].items[0]: The price already has a rate of output for these calls. Remove one.",
    ...tiered("{ item: output, price: 1 }"),
  ],
  [
    "prices[0].items[0].item: chat models priced by 1K tokens have no item image.",
    ...tiered("{ item: image, price: 1 }"),
  ],
  [
    "prices[0].items[0].above_input_tokens: Only tokens of chat models have tiers.",
    ...tiered("{ item: call, price: 1, above_input_tokens: 4 }"),
  ],
  [
    "prices[0].items[0].item: Requests for talk can't ask for a search. Add web_search_options",
    ...tiered("{ item: search, price: 1 }"),
  ],
  [
    "prices[0].items[0].quality: The rate of input can't depend on quality. Remove it.",
    ...tiered("{ price: 1, quality: high }"),
  ],
  [
    "prices[0].items[0].item: With tier_scope part, only input has tiers.",
    ...tiered("{ item: output, price: 1, above_input_tokens: 4 }", ", tier_scope: part"),
  ],
  ["prices[0].tier_scope: No item has above_input_tokens.", tokens, `${tokens}, tier_scope: part`],
  [
    "prices[0].service_tiers: Requests for talk can't have a service_tier. Add it to the model's extra_parameters",
    tokens,
    `${tokens}, service_tiers: { flex: "0.5" }`,
  ],
  [
    'prices[0].service_tiers.flex: "half" is not a factor. Write a decimal below 1000 with at most four places',
    tokens,
    `${tokens}, service_tiers: { flex: half }`,
  ],
  [
    'prices[0].output_price: "0.0000001" is not a price. Write a decimal of 0 or more with at most six places',
    tokens,
    "unit: 1M tokens, input_price: 1, output_price: 0.0000001",
  ],
  ['prices[0].items[0].price: "-1" is not a price', ...tiered("{ item: call, price: -1 }")],
  [
    "prices[1].items[0].resolution: film does not offer resolution. Add it to the model's limits",
    ...ratedBySecond("{ resolution: 720p, price: 1 }", ", price: 2"),
  ],
  [
    "prices[1].items[0].input: film does not offer input image. It offers: text.",
    ...ratedBySecond("{ input: image, price: 1 }", ", price: 2"),
  ],
  ["prices[1].tier_scope: Only prices of tokens have tiers.", "unit: second,", "unit: second, tier_scope: part,"],
]);

test.each([
  [
    "prices[1].items[1].resolution: film does not offer resolution 4k. It offers: 720p, 1080p.",
    "{ resolution: 720p, price: 1 }, { resolution: 4k, price: 2 }",
  ],
  [
    "prices[1]: No rate of second applies to requests with resolution 1080p, audio false. Add an item, or a price for the rest.",
    "{ resolution: 720p, price: 1 }, { audio: true, price: 2 }",
  ],
  [
    "prices[1].items[2]: Earlier items apply to every request that this one is for. Move it up, or remove it.",
    "{ audio: true, price: 1 }, { price: 2 }, { resolution: 720p, price: 3 }",
  ],
  [
    "prices[1].price: The items apply to every request. Remove price, or an item.",
    "{ audio: true, price: 1 }, { audio: false, price: 2 }",
    ", price: 3",
  ],
])("media rates: %s", (problem, items, rest = "") => {
  expect(listMediaProblems(items, rest)).toEqual([problem]);
});

test("prices of every form are accepted", () => {
  expect(
    listMediaProblems("{ resolution: 720p, audio: true, price: 1 }, { item: input_image, price: 2 }", ", price: 3"),
  ).toEqual([]);
  expect(
    listProblems(edit(...tiered("{ item: input, price: 1, above_input_tokens: 7 }", ", tier_scope: part"))),
  ).toEqual([]);
  const long =
    "unit: 1M tokens, items: [{ item: input, price: 3 }, { item: output, price: 15 }, { item: call, price: 0.01 }]";
  expect(listProblems(edit(tokens, long))).toEqual([]);
});

const multiplied = (lines: string): string[] => listProblems(`${right}multipliers: [${lines}]`);

test.each([
  ["multipliers[0]: A multiplier applies to a plan or to an account. Name one of them.", '{ factor: "0.8" }'],
  ["multipliers[0].plan: There is no plan gold.", '{ plan: gold, factor: "0.8" }'],
  ["multipliers[0].account: There is no account acct_9.", '{ account: acct_9, factor: "0.8" }'],
  ["multipliers[0].model: There is no model gone in this file.", '{ plan: pro, model: gone, factor: "0.8" }'],
  [
    "multipliers[0].type: A multiplier applies to a type or to a model",
    '{ plan: pro, model: film, type: video, factor: "1" }',
  ],
  ['multipliers[0].factor: "0.00001" is not a factor.', '{ plan: pro, factor: "0.00001" }'],
  [
    "multipliers[0].ends_at: ends_at must be after effective_at.",
    '{ plan: pro, factor: "1", effective_at: 2026-02-01T00:00Z, ends_at: 2026-02-01T00:00Z }',
  ],
  ["multipliers[1]: multipliers[0] already has this scope", '{ plan: pro, factor: "1" }, { plan: pro, factor: "2" }'],
])("a multiplier is rejected: %s", (problem, lines) => {
  expect(multiplied(lines).map((told) => told.slice(0, problem.length))).toEqual([problem]);
});

test("a price that with its factors has too many digits to be exact is rejected", () => {
  expect(multiplied('{ plan: pro, factor: "0.9999" }')).toEqual([]);
  const huge = `${edit("price: 1.5,", "price: 999999999,")}multipliers: [{ plan: pro, model: film, factor: "0.9999" }]`;
  expect(listProblems(huge)).toEqual([
    "prices[1]: With its factors, this price has too many digits to be exact. Lower it, or use factors with fewer places.",
  ]);
});

describe("a duplicate price", () => {
  const twice = (first: number) => [
    `prices[4]: prices[${first}] already sets this price of film. Remove one, or change its effective_at.`,
  ];

  test("is rejected in each scope, even with another amount", () => {
    expect(listProblems(again("price: 9"))).toEqual(twice(1));
    expect(listProblems(again("price: 2, plan: pro, capability: text_to_video"))).toEqual(twice(2));
    expect(listProblems(again("price: 2, account: acct_1, effective_at: 2026-01-01T00:00:00Z"))).toEqual(twice(3));
  });

  test("is also rejected if the same time is written differently", () => {
    const others = ["2026-01-01T00:00Z", "2026-01-01T00:00:00.000Z", "2026-01-01T01:00:00+01:00"];
    for (const time of others) {
      expect(listProblems(again(`price: 2, account: acct_1, effective_at: ${time}`)), time).toEqual(twice(3));
    }
  });

  test("is allowed if plan, account, capability or time differ", () => {
    for (const scope of ["plan: pro", "account: acct_1", "capability: text_to_video"]) {
      expect(listProblems(again(`price: 2, ${scope}`))).toEqual([]);
      expect(listProblems(again(`price: 2, ${scope}, effective_at: 2030-01-01T00:00:00Z`))).toEqual([]);
    }
  });
});

describe("a time", () => {
  const withTime = (time: string): string =>
    edit("deprecated_at: 2026-02-01T00:00:00Z", `deprecated_at: "${time}"`).replace(
      "shutdown_date: 2026-03-01T00:00:00Z",
      "shutdown_date: 2199-01-01T00:00:00Z",
    );

  test("is any time with its offset", () => {
    const moment = fc.date({ min: new Date(0), max: new Date("2099-12-31T23:59:59Z"), noInvalidDate: true });
    const offset = fc.stringMatching(/^[+-](0\d|1[0-3]):[0-5]\d$/);
    fc.assert(
      fc.property(moment, fc.oneof(fc.constant("Z"), offset), fc.constantFrom(16, 19, 23), (date, zone, length) => {
        expect(listProblems(withTime(`${date.toISOString().slice(0, length)}${zone}`))).toEqual([]);
      }),
    );
  });

  test.each([
    "2026-02-01",
    "2026-02-01T00:00:00",
    "2026-02-01 00:00:00Z",
    "2026-02-01T00:00:00.0001Z",
    "1 Feb 2026 00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-32T00:00:00Z",
    "2026-02-01T25:00:00Z",
    "2026-02-01T00:00:00+99:00",
    "2026-02-30T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2027-02-29T00:00:00Z",
  ])("is not %s", (time) => {
    expect(listProblems(withTime(time))).toEqual([
      `models[0].deprecated_at: "${time}" is not a time. Write it with its offset, such as 2026-11-01T00:00:00Z.`,
    ]);
  });
});
