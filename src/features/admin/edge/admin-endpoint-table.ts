import type { ErrorCode } from "../../../platform/errors/error-table.ts";
import { errorAnswers } from "../../../platform/http/error-answers.ts";

/** What admin keys are limited to. */
export const adminScopes = [
  ...([
    "accounts",
    "requests",
    "upstreams",
    "catalog",
    "money",
    "work",
    "alarms",
    "audit",
    "status",
    "operators",
  ] as const),
] as const;

export type AdminScope = (typeof adminScopes)[number];

export type AdminAccess = "read" | "write";

export type AdminEndpoint = {
  /** `null`: for every operator and key. */
  scope: AdminScope | null;
  /** Readers, and keys with read access, call only endpoints that read. */
  access: AdminAccess;
  /**
   * `fresh`: an operator must have proven their identity within the last ten minutes, because it moves money or secrets.
   * `person`: so, and no key may call it, or a key could make itself a better one.
   */
  proof?: "fresh" | "person";
};

/** Every endpoint of the operators' API. The permission test calls each as a customer, a reader and keys without access. */
const adminEndpointTable = {
  getIdentity: { scope: null, access: "read" },

  listAuditEntries: { scope: "audit", access: "read" },
  exportAuditEntries: { scope: "audit", access: "read" },
  verifyAuditLog: { scope: "audit", access: "read" },

  listOperators: { scope: "operators", access: "read" },
  grantOperator: { scope: "operators", access: "write", proof: "person" },
  revokeOperator: { scope: "operators", access: "write", proof: "person" },
  listAdminKeys: { scope: "operators", access: "read" },
  createAdminKey: { scope: "operators", access: "write", proof: "person" },
  revokeAdminKey: { scope: "operators", access: "write", proof: "person" },

  search: { scope: "accounts", access: "read" },
  listRequests: { scope: "requests", access: "read" },
  getRequest: { scope: "requests", access: "read" },

  /** Each command has its own scope and access. */
  runCommand: { scope: null, access: "read" },

  listPlans: { scope: "accounts", access: "read" },
  listAccounts: { scope: "accounts", access: "read" },
  getAccount: { scope: "accounts", access: "read" },
  updateAccount: { scope: "accounts", access: "write" },
  suspendAccount: { scope: "accounts", access: "write" },
  resumeAccount: { scope: "accounts", access: "write" },
  closeAccount: { scope: "accounts", access: "write", proof: "fresh" },
  resetTwoStep: { scope: "accounts", access: "write", proof: "fresh" },
  exportPerson: { scope: "accounts", access: "write", proof: "fresh" },
  erasePerson: { scope: "accounts", access: "write", proof: "fresh" },
  beginView: { scope: "accounts", access: "write", proof: "person" },
  endView: { scope: "accounts", access: "write" },
  listAccountNotes: { scope: "accounts", access: "read" },
  addAccountNote: { scope: "accounts", access: "write" },
  listAccountKeys: { scope: "accounts", access: "read" },
  revokeAccountKey: { scope: "accounts", access: "write" },
  listAccountCharges: { scope: "money", access: "read" },
  bookCredit: { scope: "money", access: "write", proof: "fresh" },
  refundCharge: { scope: "money", access: "write", proof: "fresh" },

  getToday: { scope: "money", access: "read" },

  listPayments: { scope: "money", access: "read" },
  getPayment: { scope: "money", access: "read" },
  refundPayment: { scope: "money", access: "write", proof: "fresh" },
  waivePaymentDebt: { scope: "money", access: "write", proof: "fresh" },
  listReversals: { scope: "money", access: "read" },
  listCreditEntries: { scope: "money", access: "read" },
  listDocuments: { scope: "money", access: "read" },
  getDocumentPdf: { scope: "money", access: "read" },
  exportBooks: { scope: "money", access: "read" },
  exportRevenue: { scope: "money", access: "read" },
  listRevenue: { scope: "money", access: "read" },
  listMargins: { scope: "money", access: "read" },
  listCodeBatches: { scope: "money", access: "read" },
  createCodes: { scope: "money", access: "write", proof: "fresh" },
  revokeCodeBatch: { scope: "money", access: "write", proof: "fresh" },
  listCodes: { scope: "money", access: "read" },
  revokeCode: { scope: "money", access: "write", proof: "fresh" },
  listVerifications: { scope: "money", access: "read" },
  startVerification: { scope: "money", access: "write" },
  listFrozenAccounts: { scope: "money", access: "read" },
  unfreezeAccount: { scope: "money", access: "write", proof: "fresh" },

  listTasks: { scope: "work", access: "read" },
  getTask: { scope: "work", access: "read" },
  cancelTask: { scope: "work", access: "write" },
  retryTask: { scope: "work", access: "write" },
  listDeliveries: { scope: "work", access: "read" },
  resendEvent: { scope: "work", access: "write" },
  listQueues: { scope: "work", access: "read" },
  listStorage: { scope: "work", access: "read" },
  purgeFiles: { scope: "work", access: "write" },
  getSetup: { scope: null, access: "read" },

  listUpstreams: { scope: "upstreams", access: "read" },
  listUpstreamEvents: { scope: "upstreams", access: "read" },
  switchUpstream: { scope: "upstreams", access: "write" },
  testUpstream: { scope: "upstreams", access: "write" },
  listVendors: { scope: "upstreams", access: "read" },
  listSecrets: { scope: "upstreams", access: "read" },
  storeSecret: { scope: "upstreams", access: "write", proof: "fresh" },
  rollBackSecret: { scope: "upstreams", access: "write", proof: "fresh" },

  getCatalog: { scope: "catalog", access: "read" },
  listCatalogVersions: { scope: "catalog", access: "read" },
  getCatalogVersion: { scope: "catalog", access: "read" },
  checkCatalog: { scope: "catalog", access: "read" },
  simulateCatalog: { scope: "catalog", access: "read" },
  editCatalog: { scope: "catalog", access: "read" },
  addVendorToCatalog: { scope: "catalog", access: "read" },
  importModels: { scope: "catalog", access: "read" },
  // Another address of a provider receives its keys.
  applyCatalog: { scope: "catalog", access: "write", proof: "fresh" },
  listScheduledCatalogs: { scope: "catalog", access: "read" },
  scheduleCatalog: { scope: "catalog", access: "write", proof: "fresh" },
  cancelScheduledCatalog: { scope: "catalog", access: "write" },

  listAlarms: { scope: "alarms", access: "read" },
  getAlarm: { scope: "alarms", access: "read" },
  acknowledgeAlarm: { scope: "alarms", access: "write" },
  silenceAlarm: { scope: "alarms", access: "write" },
  listAlarmRules: { scope: "alarms", access: "read" },
  updateAlarmRule: { scope: "alarms", access: "write" },

  listIncidents: { scope: "status", access: "read" },
  getIncident: { scope: "status", access: "read" },
  createIncident: { scope: "status", access: "write" },
  updateIncident: { scope: "status", access: "write" },

  listSignUps: { scope: "accounts", access: "read" },
  sumSignUps: { scope: "accounts", access: "read" },
  liftSpendCap: { scope: "accounts", access: "write" },
  listBlocks: { scope: "accounts", access: "read" },
  createBlock: { scope: "accounts", access: "write" },
  removeBlock: { scope: "accounts", access: "write" },
} as const satisfies Record<string, AdminEndpoint>;

export type AdminEndpointName = keyof typeof adminEndpointTable;

export const adminEndpointNames = Object.keys(adminEndpointTable) as readonly AdminEndpointName[];

export function getAdminEndpoint(name: AdminEndpointName): AdminEndpoint {
  return adminEndpointTable[name];
}

/** Errors that every endpoint can return. */
const commonErrors = [
  "not_found",
  "not_signed_in",
  "invalid_api_key",
  "revoked_api_key",
  "expired_api_key",
  "second_factor_required",
  "reauthentication_required",
  "operator_not_permitted",
  "cross_site_request",
  "rate_limit_exceeded",
  "internal_error",
  "overloaded",
  "shutting_down",
] as const satisfies readonly ErrorCode[];

const inputErrors = ["invalid_parameter", "missing_parameter", "unknown_parameter"] as const;
const bodyErrors = ["invalid_json", "payload_too_large", "unsupported_media_type"] as const;

/** Route options that derive from the table. Spread `schema` into the route's own. */
export function describeAdminEndpoint(name: AdminEndpointName, errors: readonly ErrorCode[] = []) {
  const { scope, access } = getAdminEndpoint(name);
  const ofBody = access === "write" || name === "runCommand" ? bodyErrors : [];
  return {
    config: { adminEndpoint: name },
    schema: {
      operationId: name,
      security: [{ admin_key: [] }, { session: [] }],
      tags: [scope === null ? "Identity" : `${scope.charAt(0).toUpperCase()}${scope.slice(1)}`],
    },
    errors: errorAnswers([...new Set([...errors, ...inputErrors, ...ofBody, ...commonErrors])]),
  };
}
