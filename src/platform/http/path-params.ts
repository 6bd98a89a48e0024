import { type TString, Type } from "typebox";
import { AppError } from "../errors/app-error.ts";
import type { ErrorCode } from "../errors/error-table.ts";

type PathIdEntry = {
  pattern: string;
  /** The error for an unknown and for a malformed id: callers cannot tell them apart. */
  missing: { code: ErrorCode; message: string; namesParam?: true };
};

const unknown = (message: string) => ({ code: "not_found", message }) as const;

/** Every kind of id in a path. A malformed id is a 404 without a database query. */
const pathIds = {
  task: { pattern: "^task_[0-9a-z]{1,64}$", missing: { code: "task_not_found", message: "There is no such task." } },
  shot: {
    pattern: "^[1-9][0-9]{0,2}$",
    missing: { ...unknown("The video has no such shot. Shots are numbered from 1."), namesParam: true },
  },
  file: {
    pattern: "^file_[0-9a-z]{26}$",
    missing: { code: "file_not_found", message: "There is no such file, or it has expired.", namesParam: true },
  },
  charge: {
    pattern: "^txn_[0-9a-z]{1,64}$",
    missing: { ...unknown("The account has no such charge."), namesParam: true },
  },
  request: {
    pattern: "^req_[0-9a-z]{26}$",
    missing: { ...unknown("The account has no such request, or it has expired."), namesParam: true },
  },
  checkout: {
    pattern: "^chk_[0-9a-z]{1,64}$",
    missing: { ...unknown("There is no such checkout."), namesParam: true },
  },
  document: {
    pattern: "^doc_[0-9a-f]{26}$",
    missing: { ...unknown("There is no such document."), namesParam: true },
  },
  webhookEndpoint: {
    pattern: "^whe_[0-9a-z]{1,64}$",
    missing: unknown("The account has no such webhook endpoint."),
  },
  webhookEvent: { pattern: "^evt_[0-9a-z]{1,64}$", missing: unknown("The account has no such event.") },
  webhookSession: {
    pattern: "^whs_[0-9a-z]{1,64}$",
    missing: unknown("There is no such webhook session, or it was not read for a day."),
  },
  response: {
    pattern: "^resp_[0-9a-z]{1,64}$",
    missing: { ...unknown("There is no such response, or its time is over."), namesParam: true },
  },
  conversation: {
    pattern: "^conv_[0-9a-z]{1,64}$",
    missing: { ...unknown("There is no such conversation, or its time is over."), namesParam: true },
  },
  // Upstreams generate item ids too.
  conversationItem: {
    pattern: "^[A-Za-z0-9_-]{1,200}$",
    missing: { ...unknown("There is no such item."), namesParam: true },
  },
  key: { pattern: "^key_[0-9a-z]{1,64}$", missing: unknown("The account has no such API key.") },
  account: { pattern: "^acct_[0-9a-z]{1,64}$", missing: unknown("There is no such account.") },
  alarm: { pattern: "^alarm_[0-9a-z]{1,64}$", missing: unknown("There is no such alarm.") },
  alarmRule: { pattern: "^[a-z-]{1,64}$", missing: unknown("There is no such alarm rule.") },
  incident: { pattern: "^inc_[0-9a-z]{1,64}$", missing: unknown("There is no such incident.") },
  adminKey: { pattern: "^akey_[0-9a-z]{1,64}$", missing: unknown("There is no such admin key.") },
  code: { pattern: "^code_[0-9a-z]{1,64}$", missing: unknown("There is no such code.") },
  codeBatch: { pattern: "^batch_[0-9a-z]{1,64}$", missing: unknown("There is no such batch.") },
  user: { pattern: "^user_[0-9a-z]{1,64}$", missing: unknown("There is no such user.") },
  session: { pattern: "^ses_[0-9a-z]{1,64}$", missing: unknown("You have no such session.") },
  passkey: { pattern: "^passkey_[0-9a-z]{1,64}$", missing: unknown("You have no such passkey.") },
  connectRequest: {
    pattern: "^[A-Za-z0-9_-]{1,64}$",
    missing: unknown("This request does not exist or has expired. Start again in the program."),
  },
  signInProvider: {
    pattern: "^[!-~]{1,100}$",
    missing: unknown("This site does not offer this sign-in service."),
  },
  vendorHook: {
    pattern: "^task_[0-9a-z]{1,64}\\.[A-Za-z0-9_-]{24}$",
    missing: unknown("Nothing calls back here."),
  },
  catalogVersion: { pattern: "^[1-9][0-9]{0,8}$", missing: unknown("There is no such version of the catalog.") },
  scheduledCatalog: { pattern: "^csch_[0-9a-z]{1,64}$", missing: unknown("There is no such scheduled change.") },
  // Any text: the gateway looks it up in memory, or the page does.
  asset: { pattern: "^[^\\0]{0,1024}$", missing: unknown("There is nothing at this path.") },
  page: { pattern: "^[^\\0]{0,1023}$", missing: unknown("There is nothing at this path.") },
} as const satisfies Record<string, PathIdEntry>;

export type PathIdKind = keyof typeof pathIds;

const entryByPattern: ReadonlyMap<string, PathIdEntry> = new Map(
  Object.values(pathIds).map((entry: PathIdEntry) => [entry.pattern, entry]),
);

/** The schema of a route's parameters by kind of id. */
export function pathParams<Name extends string>(kinds: Record<Name, PathIdKind>) {
  const entries = Object.entries<PathIdKind>(kinds).map(([name, kind]) => [
    name,
    Type.String({ pattern: pathIds[kind].pattern }),
  ]);
  return Type.Object(Object.fromEntries(entries) as Record<Name, TString>);
}

/** The error for a malformed id. */
export function createMissing(finding: { pattern: unknown; name: string }): AppError {
  const { code, message, namesParam } = entryByPattern.get(String(finding.pattern))?.missing ?? {
    ...unknown("There is nothing at this path."),
    namesParam: undefined,
  };
  return new AppError(code, message, namesParam === true ? { param: finding.name } : {});
}

/** Throws at startup if a route's parameter has no kind. */
export function requirePathParams({ url, schema }: { url: string; schema?: { params?: unknown } | undefined }): void {
  const { properties = {} } = (schema?.params ?? {}) as { properties?: Record<string, { pattern?: string }> };
  for (const [, name = ""] of url.matchAll(/:([a-z_]+)/g)) {
    if (!entryByPattern.has(properties[name]?.pattern ?? "")) {
      throw new Error(`The parameter ${name} of ${url} has no kind from path-params.ts.`);
    }
  }
}
