// Who may import whom. `npm run check` holds the code to it, and test/repository/import-order.test.ts plants a
// violation of every rule to show that it still fires.

/**
 * Highest rank first. A part is the list of its folders and files; a new folder has to be entered here, so that none
 * can grow unnoticed into a drawer for leftovers.
 */
const ranks = [
  { cli: ["src/main.ts", "src/cli"] },
  { app: ["src/app", "src/app/processes"] },
  {
    admin: [
      "src/features/admin",
      "src/features/admin/accounts",
      "src/features/admin/audit",
      "src/features/admin/catalog",
      "src/features/admin/commands",
      "src/features/admin/edge",
      "src/features/admin/keys",
      "src/features/admin/money",
      "src/features/admin/operators",
      "src/features/admin/people",
      "src/features/admin/requests",
      "src/features/admin/search",
      "src/features/admin/today",
      "src/features/admin/setup",
      "src/features/admin/upstreams",
      "src/features/admin/views",
      "src/features/admin/watch",
      "src/features/admin/work",
    ],
  },
  {
    search: ["src/features/search"],
    site: [
      "src/features/site",
      "src/features/site/account",
      "src/features/site/brand",
      "src/features/site/connect",
      "src/features/site/showcase",
      "src/features/site/sign-in",
      "src/features/site/sign-in/passkey",
      "src/features/site/sign-in/password",
      "src/features/site/sign-in/provider",
      "src/features/site/sign-in/second-factor",
      "src/features/site/sign-in/session",
      "src/features/site/sign-in/user",
    ],
  },
  { alarms: ["src/features/alarms"] },
  { status: ["src/features/status"] },
  { requests: ["src/features/requests", "src/features/requests/content"] },
  {
    alerts: ["src/features/alerts"],
    completions: ["src/features/completions"],
    dramas: ["src/features/dramas", "src/features/dramas/film"],
    messages: ["src/features/messages"],
    plans: ["src/features/plans"],
    payments: ["src/features/payments", "src/features/payments/cards", "src/features/payments/external"],
    responses: ["src/features/responses"],
    simulation: ["src/features/simulation"],
    speech: ["src/features/speech"],
    usage: ["src/features/usage"],
  },
  {
    chat: ["src/features/chat"],
    embeddings: ["src/features/embeddings"],
    transcriptions: ["src/features/transcriptions"],
    tasks: [
      "src/features/tasks",
      "src/features/tasks/hooks",
      "src/features/tasks/machine",
      "src/features/tasks/read",
      "src/features/tasks/submit",
      "src/features/tasks/work",
    ],
  },
  { calls: ["src/features/calls"] },
  {
    abuse: ["src/features/abuse"],
    books: ["src/features/books"],
    costs: ["src/features/costs"],
    invoices: ["src/features/invoices"],
  },
  {
    accounts: ["src/features/accounts"],
    backups: ["src/features/backups"],
    catalog: ["src/features/catalog", "src/features/catalog/imports"],
    ledger: ["src/features/ledger"],
    limits: ["src/features/limits"],
    notices: ["src/features/notices"],
    files: ["src/features/files"],
    webhooks: ["src/features/webhooks"],
  },
  { idempotency: ["src/features/idempotency"], quotes: ["src/features/quotes"], secrets: ["src/features/secrets"] },
  { audit: ["src/features/audit"] },
  {
    providers: [
      "src/providers",
      "src/providers/accounts",
      "src/providers/ai-sdk",
      "src/providers/ai-sdk/fixtures",
      "src/providers/failures",
      "src/providers/failures/fixtures",
      "src/providers/fal",
      "src/providers/native",
      "src/providers/openai-compatible",
      "src/providers/openai-compatible/dialects",
      "src/providers/queues",
      "src/providers/voices",
    ],
  },
  {
    platform: [
      "src/platform/confinement",
      "src/platform/config",
      "src/platform/counters",
      "src/platform/database",
      "src/platform/database/embedded",
      "src/platform/errors",
      "src/platform/http",
      "src/platform/jobs",
      "src/platform/media",
      "src/platform/mail",
      "src/platform/net",
      "src/platform/observability",
      "src/platform/storage",
      "src/platform/text",
      "src/platform/tracing",
    ],
  },
  { lib: ["src/lib"] },
];

/**
 * The layers inside a feature, highest first: a file or folder, and `.` for the other files of the feature's own folder. A
 * layer imports itself and lower layers only.
 */
const layersByPart = {
  dramas: [".", "film"],
  tasks: ["create-tasks.ts", "hooks", "work", "speech", "submit", "read", "machine", "."],
};

const testFile = "[.]test[.]ts$";
const harness = "^test/harness/";
const httpFramework = "(^|node_modules/)(fastify|@fastify/[^/]+|ajv)(/|$)";
const databaseLibrary = "(^|node_modules/)(kysely|(@types/)?pg)(/|$)";

/** What a package that is an adapter may know of the gateway, and the one file that loads such packages. */
const providersContract =
  "^src/providers/(adapter|adapter-tools|chat-request|contract|embedding|generation|media-options|route-terms|transcription|write-vector)[.]ts$";
const adapterLoader = "^src/providers/provider-registry[.]ts$";

const placesOfRanks = ranks.map((rank) => Object.values(rank).flat());

const rankRules = ranks.flatMap((rank, index) =>
  Object.entries(rank).map(([part, places]) => ({
    name: `${part}-imports-lower-parts-only`,
    comment: "A part imports parts of a lower rank; what must call upwards is handed a function by src/app.",
    from: { path: matchFiles(places) },
    to: { path: "^src/", pathNot: matchFiles([...places, ...placesOfRanks.slice(index + 1).flat()]) },
  })),
);

const layerRules = Object.entries(layersByPart).flatMap(([part, layers]) =>
  layers.map((layer, index) => ({
    name: `${part}-${layer === "." ? "base" : layer.replace(".ts", "")}-imports-lower-layers-only`,
    comment: "A layer of a feature imports itself and lower layers; move what two layers share to the lower one.",
    from: { path: matchLayers(part, [layer]) },
    to: { path: `^src/features/${part}/`, pathNot: matchLayers(part, layers.slice(index)) },
  })),
);

const otherRules = [
  {
    name: "features-are-entered-by-their-door",
    comment: "What a feature promises to other parts is what its index.ts exports.",
    from: { path: "^src/(?:features/)?([^/]+)" },
    to: { path: "^src/features/", pathNot: ["^src/features/$1/", "^src/features/[^/]+/index[.]ts$"] },
  },
  {
    name: "no-feature-uses-its-own-door",
    comment: "Files of one feature import each other directly; through the door they would run in circles.",
    from: { path: "^src/features/([^/]+)/", pathNot: testFile },
    to: { path: "^src/features/$1/index[.]ts$" },
  },
  {
    name: "no-circles",
    comment: "Files in a circle can only be understood, tested and changed together.",
    from: {},
    to: { circular: true },
  },
  {
    name: "http-framework-at-the-edge",
    comment: "Operations take and return plain values; only routes, src/platform/http and src/app know the framework.",
    from: { path: "^src/", pathNot: ["-routes[.]ts$", "^src/platform/http/", "^src/app/"] },
    to: { path: httpFramework },
  },
  {
    name: "sql-in-stores",
    comment: "Only stores and src/platform/database contain SQL; others speak of its Database type.",
    from: { path: "^src/", pathNot: ["-store[.]ts$", "^src/platform/database/"] },
    to: { path: databaseLibrary },
  },
  {
    name: "pictures-in-confined-processes",
    comment: "sharp is native code that files can break: only what runs in a confined process loads it.",
    from: {
      path: "^(src|packages/sandbox)/",
      pathNot: [
        "^src/platform/media/(image-process|read-image|conversion-process)[.]ts$",
        "^src/features/dramas/film/draw-(captions|titles)[.]ts$",
        "^packages/sandbox/src/studio/",
      ],
    },
    to: { path: "(^|node_modules/)sharp(/|$)" },
  },
  {
    name: "programs-by-the-door",
    comment:
      "Programs are started by src/platform/confinement, which confines them; PostgreSQL is our own, and npm is the operator's.",
    from: {
      path: "^(src|packages/sandbox)/",
      pathNot: [testFile, "^src/platform/confinement/", "^src/platform/database/embedded/", "^src/cli/run-npm[.]ts$"],
    },
    to: { path: "^(node:)?child_process$" },
  },
  {
    name: "src-stands-alone",
    comment: "The gateway runs without the console's sources, the packages, the tests and the scripts.",
    from: { path: "^src/", pathNot: [testFile, adapterLoader] },
    to: { path: "^(web|packages|test|scripts)/" },
  },
  {
    name: "adapters-are-entered-by-their-door",
    comment: "Of a package, the registry knows what its index.ts exports.",
    from: { path: adapterLoader },
    to: { path: "^(web|packages|test|scripts)/", pathNot: "^packages/sandbox/src/index[.]ts$" },
  },
  {
    name: "adapters-are-loaded-when-named",
    comment: "A gateway whose catalog does not name an adapter's kind never loads its package.",
    from: { path: adapterLoader },
    to: { path: "^packages/", dynamic: false },
  },
  {
    name: "tests-beside-the-code-use-the-harness-only",
    comment: "What a test beside the code cannot reach downwards or in the harness belongs into test/.",
    from: { path: `^src/.*${testFile}` },
    to: { path: "^(web|packages|test|scripts)/", pathNot: harness },
  },
  {
    name: "web-and-packages-stand-alone",
    comment: "The console and the packages know the gateway by its API only.",
    from: { path: "^(web|packages)/", pathNot: "^packages/sandbox/" },
    to: { path: "^src/" },
  },
  {
    name: "adapters-know-the-contract-only",
    comment: "An adapter is written against the contract of the providers, and imports nothing else of the repository.",
    from: { path: "^packages/sandbox/", pathNot: testFile },
    to: { path: "^(src|web|test|scripts|packages)/", pathNot: [providersContract, "^packages/sandbox/"] },
  },
  {
    name: "tests-of-adapters-use-the-harness-only",
    comment: "What a test of an adapter cannot reach by the contract or in the harness belongs into test/.",
    from: { path: `^packages/sandbox/.*${testFile}` },
    to: { path: "^(src|web|test|scripts|packages)/", pathNot: [providersContract, harness, "^packages/sandbox/"] },
  },
];

/** A rule of this kind demands an import; nothing can meet this one, so every file outside the table breaks it. */
const unknownFolderRule = {
  name: "folders-are-known",
  comment: "Put the file into a folder of the table of ranks, or enter the new folder there.",
  severity: "error",
  module: { path: "^src/", pathNot: matchFiles(placesOfRanks.flat()) },
  to: { path: "^nothing is called this$" },
};

/** The files that lie directly in the given places; a place that ends in .ts is a file itself. */
function matchFiles(places) {
  const isFile = (place) => place.endsWith(".ts");
  const folders = places.filter((place) => !isFile(place)).join("|");
  const files = places.filter(isFile).map((file) => `|${file.replace(".", "[.]")}`);
  return `^(?:(?:${folders})/[^/]+${files.join("")})$`;
}

/** The files of a feature's layers. The door belongs to none. */
function matchLayers(part, layers) {
  const files = layersByPart[part].filter((layer) => layer.endsWith(".ts"));
  const ownFiles = `(?!(?:${["index.ts", ...files].join("|").replaceAll(".", "[.]")})$)[^/]+`;
  const names = layers.map((layer) => {
    if (layer === ".") return ownFiles;
    return layer.endsWith(".ts") ? layer.replace(".", "[.]") : `${layer}/[^/]+`;
  });
  return `^src/features/${part}/(?:${names.join("|")})$`;
}

export default {
  forbidden: [...rankRules, ...layerRules, ...otherRules].map((rule) => ({ ...rule, severity: "error" })),
  required: [unknownFolderRule],
  options: {
    // The standard parser cannot read TypeScript 7 and would report no modules at all. This one sees type imports too.
    parser: "swc",
    doNotFollow: { path: "node_modules" },
    skipAnalysisNotInRules: true,
  },
};
