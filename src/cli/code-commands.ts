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
import { keepSecret } from "./keep-secret.ts";
import { createWrongValue, readNumber, readTime } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemParts } from "./system-parts.ts";
import { withDatabase } from "./with-database.ts";

const createCommand: Command = {
  name: "code create",
  summary: "Creates codes, each worth an amount to the first account that redeems it, and shows them, this once.",
  options: {
    amount: { placeholder: "amount", explains: "What each code is worth.", isRequired: true },
    count: { placeholder: "number", explains: "How many codes; without it: 1." },
    kind: { placeholder: "word", explains: "gift, which is spent first, or cash; without it: gift." },
    days: { placeholder: "number", explains: "For how many days the gift lasts; without it: for good." },
    expires: { placeholder: "time", explains: "Until when they can be redeemed; without it: at any time." },
    note: { placeholder: "text", explains: "What they are for." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, { currency, data_dir: dataDir }) => {
      await requireLedgerCurrency(database, currency);
      const kind = (["gift", "cash"] as const).find((word) => word === (options.kind ?? "gift"));
      if (kind === undefined) throw createWrongValue("kind", "gift or cash");
      const created = await createCodes(
        { ...systemParts, database, currency },
        {
          kind,
          amount: readAmount(options.amount ?? ""),
          count: readNumber("count", options.count ?? "1"),
          giftDays: options.days === undefined ? null : readNumber("days", options.days),
          expiresAt: options.expires === undefined ? null : readTime(options.expires),
          note: options.note ?? "",
        },
      );
      if (terminal.isJson) {
        return { json: created.map(({ code, text }) => ({ ...presentCodeJson(code), code: text })), text: "" };
      }
      const texts = created.map(({ text }) => text).join("\n");
      const place = terminal.isTerminal
        ? `${texts}\n\nKeep them now: they are not shown again.`
        : `They are in ${keepSecret(dataDir, created[0]?.code.id ?? "codes", texts)}, because this is not a terminal.`;
      return { json: null, text: `Created ${created.length} codes.\n\n${place}` };
    }),
};

const listCommand: Command = {
  name: "code list",
  summary: "Lists codes and what became of them.",
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
            ? "There are no codes. Create some: npm run -s sluice -- code create --amount <amount>"
            : presentRows(["ID", "CODE", "WORTH", "KIND", "STATE", "NOTE"], rows),
      };
    }),
};

const voidCommand: Command = {
  name: "code void",
  summary: "Voids a code that has not been redeemed.",
  positionals: ["code id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const code = await voidCode({ ...systemParts, database }, id);
      return { json: presentCodeJson(code), text: `${code.id} is worth nothing now.` };
    }),
};

const redeemCommand: Command = {
  name: "code redeem",
  summary: "Redeems a code for an account.",
  positionals: ["code"],
  options: { account: { placeholder: "account id", explains: "The account that gets it.", isRequired: true } },
  run: ({ positionals: [text = ""], options, terminal }) =>
    withDatabase(terminal, async (database, { currency }) => {
      await requireLedgerCurrency(database, currency);
      const accountId = (options.account ?? "") as AccountId;
      const code = await redeemCode({ ...systemParts, database, currency }, { accountId, text });
      return {
        json: presentCodeJson(code),
        text: `${accountId} got ${presentMoney(code.amount)} ${code.currency} by ${code.id}.`,
      };
    }),
};

export const codeCommands: readonly Command[] = [createCommand, listCommand, voidCommand, redeemCommand];

function describeState(code: RedeemCode): string {
  if (code.redeemedAt !== null) return `redeemed by ${code.redeemedBy}`;
  if (code.voidedAt !== null) return "voided";
  if (code.expiresAt === null) return "open";
  const moment = code.expiresAt.toISOString();
  return code.expiresAt <= systemParts.clock.now() ? `over since ${moment}` : `open until ${moment}`;
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
