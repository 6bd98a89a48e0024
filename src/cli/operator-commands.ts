import { grantOperator, listOperators, type Operator, revokeOperator } from "../features/admin/index.ts";
import { findUserByEmail } from "../features/site/index.ts";
import { operatorRoles } from "../lib/operator-role.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command } from "./command.ts";
import { getActing } from "./get-acting.ts";
import { createWrongValue } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const emailOption = { placeholder: "address", description: "The user's e-mail address.", isRequired: true } as const;
const reasonOption = { placeholder: "text", description: "The reason, for the audit log." } as const;

const grantCommand: Command = {
  name: "operator grant",
  summary: "Let a user use the operator side. It requires two-step sign-in.",
  options: {
    email: emailOption,
    role: {
      placeholder: "word",
      description: `${operatorRoles.join(" or ")}, who changes nothing. Default: operator.`,
    },
    reason: reasonOption,
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const role = operatorRoles.find((word) => word === (options.role ?? "operator"));
      if (role === undefined) throw createWrongValue("role", operatorRoles.join(" or "));
      const request = { email: options.email ?? "", role, acting: getActing(), reason: options.reason ?? null };
      const operator = await grantOperator({ ...systemDependencies, database }, request);
      const next = operator.hasSecondFactor
        ? "Open /console/admin."
        : "Next: the user adds an authenticator app or a passkey in the settings, then opens /console/admin.";
      return { json: presentOperatorJson(operator), text: `${operator.email} is ${nameRole(operator)} now. ${next}` };
    }),
};

const revokeCommand: Command = {
  name: "operator revoke",
  summary: "Take the rights of an operator away, from the next request on.",
  options: { email: emailOption, reason: reasonOption },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const user = await findUserByEmail(database, options.email ?? "");
      if (user === null) throw new AppError("not_found", `There is no user ${options.email}.`);
      await revokeOperator(database, { userId: user.id, acting: getActing(), reason: options.reason ?? null });
      return { json: { id: user.id, email: user.email, role: null }, text: `${user.email} is no longer an operator.` };
    }),
};

const listCommand: Command = {
  name: "operator list",
  summary: "List the operators.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const operators = await listOperators(database);
      const rows = operators.map((operator) => [
        operator.email,
        operator.role,
        operator.hasSecondFactor ? "two-step" : "MISSING",
        operator.grantedBy,
        operator.grantedAt.toISOString(),
      ]);
      return {
        json: operators.map(presentOperatorJson),
        text:
          operators.length === 0
            ? "No operators. Add one: npm run -s sluice -- operator grant --email <address>"
            : presentRows(["EMAIL", "ROLE", "SECOND FACTOR", "GRANTED BY", "SINCE"], rows),
      };
    }),
};

export const operatorCommands: readonly Command[] = [grantCommand, revokeCommand, listCommand];

function nameRole({ role }: Operator): string {
  return role === "operator" ? "an operator" : "a reader";
}

function presentOperatorJson(operator: Operator): Record<string, unknown> {
  return {
    id: operator.userId,
    email: operator.email,
    role: operator.role,
    has_second_factor: operator.hasSecondFactor,
    granted_by: operator.grantedBy,
    granted_at: operator.grantedAt.toISOString(),
  };
}
