import { Type } from "typebox";
import type { AuditFilter } from "../../audit/index.ts";
import { momentField, parseMoment } from "../edge/moment-field.ts";

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 254, pattern: "^[^\\0]*$", description }));

/** Of the list and the export. */
export const auditFilterFields = {
  actor: text("An id or a name."),
  action: text("An action such as `account.suspended`, or its noun for all of them."),
  subject: text("The id of what was changed."),
  account_id: text("The customer's account."),
  from: momentField("Only entries from this time on."),
  to: momentField("Only entries before this time."),
};

type AskedFilter = { [name in keyof typeof auditFilterFields]?: string };

export function readAuditFilter({ actor, action, subject, account_id: accountId, from, to }: AskedFilter): AuditFilter {
  return {
    ...{ actor: actor ?? null, action: action ?? null, subject: subject ?? null, accountId: accountId ?? null },
    ...{ from: parseMoment(from, "from"), to: parseMoment(to, "to") },
  };
}
