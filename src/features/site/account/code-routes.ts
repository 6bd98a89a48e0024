import { Type } from "typebox";
import { presentMoney } from "../../../lib/money.ts";
import { consoleErrors, getSession } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { decideGiftEnd, readBalance } from "../../ledger/index.ts";
import { type RedeemDependencies, redeemOwnCode } from "./redeem-own-code.ts";

const redeemedSchema = Type.Object({
  object: Type.Literal("redeemed_code"),
  kind: Type.Enum(["cash", "gift"]),
  amount: Type.String({ examples: ["10.00"] }),
  currency: Type.String(),
  expires_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
    description: "When the gift expires; `null` if never.",
  }),
  balance: Type.String({ examples: ["35.00"], description: "The available balance." }),
});

export function addCodeRoutes(http: HttpServer, dependencies: RedeemDependencies): void {
  http.post(
    "/codes/redeem",
    {
      schema: {
        operationId: "redeemCode",
        summary: "Redeem a code",
        description: "A code can be redeemed once. Redeeming it again returns 409.",
        tags: ["Billing"],
        body: Type.Object(
          { code: Type.String({ maxLength: 100, examples: ["7KQ2M-X4TRA-9HPVC-E6WN3"] }) },
          { additionalProperties: false },
        ),
        response: {
          200: redeemedSchema,
          ...consoleErrors("POST", ["not_found", "already_completed", "too_many_attempts"]),
        },
      },
    },
    async (request) => {
      const session = getSession(request);
      const code = await redeemOwnCode(dependencies, session, { text: request.body.code, address: request.ip });
      const now = dependencies.clock.now();
      const { balance } = await readBalance(dependencies.database, session.accountId, now);
      return {
        object: "redeemed_code" as const,
        kind: code.kind,
        amount: presentMoney(code.amount),
        currency: code.currency,
        expires_at: decideGiftEnd(code, code.redeemedAt ?? now)?.toISOString() ?? null,
        balance: presentMoney(balance.available),
      };
    },
  );
}
