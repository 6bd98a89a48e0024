import {
  createCodes,
  listCodes,
  type RedeemCode,
  redeemCode,
  requireLedgerCurrency,
  voidCode,
} from "../features/ledger/index.ts";
import type { AccountId } from "../lib/ids.ts";
import { presentMoney } from "../lib/money.ts";
import type { Command } from "./command.ts";
import { readAmount } from "./credit-commands.ts";
import { getActor } from "./get-acting.ts";
import { createWrongValue, readNumber, readTime } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { saveSecret } from "./save-secret.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const createCommand: Command = {
  name: "code create",
  summary: "Create codes that credit an amount to the first account that redeems them. They are shown once.",
  options: {
    amount: { placeholder: "amount", description: "The amount of each code.", isRequired: true },
    count: { placeholder: "number", description: "The number of codes. Default: 1." },
    kind: { placeholder: "word", description: "gift (spent first) or cash. Default: gift." },
    days: { placeholder: "number", description: "The number of days until the gift expires. Default: never." },
    expires: { placeholder: "time", description: "When the codes expire. Default: never." },
    note: { placeholder: "text", description: "A note for yourself." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, { currency, data_dir: dataDir }) => {
      await requireLedgerCurrency(database, currency);
      const kind = (["gift", "cash"] as const).find((word) => word === (options.kind ?? "gift"));
      if (kind === undefined) throw createWrongValue("kind", "gift or cash");
      const created = await createCodes(
        { ...systemDependencies, database, currency },
        {
          kind,
          amount: readAmount(options.amount ?? ""),
          count: readNumber("count", options.count ?? "1"),
          giftDays: options.days === undefined ? null : readNumber("days", options.days),
          expiresAt: options.expires === undefined ? null : readTime(options.expires),
          note: options.note ?? "",
          createdBy: getActor(),
        },
      );
      if (terminal.isJson) {
        return { json: created.map(({ code, text }) => ({ ...presentCodeJson(code), code: text })), text: "" };
      }
      const texts = created.map(({ text }) => text).join("\n");
      const place = terminal.isTerminal
        ? `${texts}\n\nSave them now: they are not shown again.`
        : `Saved to ${saveSecret(dataDir, created[0]?.code.id ?? "codes", texts)} (standard output is not a terminal).`;
      return { json: null, text: `Created ${created.length} codes.\n\n${place}` };
    }),
};

const listCommand: Command = {
  name: "code list",
  summary: "List codes and their status.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const codes = await listCodes(database);
      const rows = codes.map((code) => [
        code.id,
        `…${code.lastFour}`,
        `${presentMoney(code.amount)} ${code.currency}`,
        code.giftDays === null ? code.kind : `${code.kind} for ${code.giftDays} days`,
        describeState(code),
        code.note,
      ]);
      return {
        json: codes.map(presentCodeJson),
        text:
          rows.length === 0
            ? "No codes. Create some: npm run -s sluice -- code create --amount <amount>"
            : presentRows(["ID", "CODE", "WORTH", "KIND", "STATE", "NOTE"], rows),
      };
    }),
};

const voidCommand: Command = {
  name: "code void",
  summary: "Void a code that is not redeemed yet.",
  positionals: ["code id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const code = await voidCode({ ...systemDependencies, database }, id);
      return { json: presentCodeJson(code), text: `Voided ${code.id}.` };
    }),
};

const redeemCommand: Command = {
  name: "code redeem",
  summary: "Redeem a code for an account.",
  positionals: ["code"],
  options: { account: { placeholder: "account id", description: "The account to credit.", isRequired: true } },
  run: ({ positionals: [text = ""], options, terminal }) =>
    withDatabase(terminal, async (database, { currency }) => {
      await requireLedgerCurrency(database, currency);
      const accountId = (options.account ?? "") as AccountId;
      const code = await redeemCode({ ...systemDependencies, database, currency }, { accountId, text });
      return {
        json: presentCodeJson(code),
        text: `Credited ${presentMoney(code.amount)} ${code.currency} to ${accountId} (${code.id}).`,
      };
    }),
};

export const codeCommands: readonly Command[] = [createCommand, listCommand, voidCommand, redeemCommand];

function describeState(code: RedeemCode): string {
  if (code.redeemedAt !== null) return `redeemed by ${code.redeemedBy}`;
  if (code.voidedAt !== null) return "voided";
  if (code.expiresAt === null) return "open";
  const moment = code.expiresAt.toISOString();
  return code.expiresAt <= systemDependencies.clock.now() ? `expired ${moment}` : `open until ${moment}`;
}

function presentCodeJson(code: RedeemCode): Record<string, unknown> {
  return {
    id: code.id,
    last_four: code.lastFour,
    kind: code.kind,
    amount: presentMoney(code.amount),
    currency: code.currency,
    gift_days: code.giftDays,
    note: code.note,
    created_at: code.createdAt.toISOString(),
    expires_at: code.expiresAt?.toISOString() ?? null,
    voided_at: code.voidedAt?.toISOString() ?? null,
    redeemed_at: code.redeemedAt?.toISOString() ?? null,
    redeemed_by: code.redeemedBy,
  };
}
