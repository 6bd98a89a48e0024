import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { Button } from "../../design/button.tsx";
import { Notice } from "../../design/notice.tsx";
import { Section } from "../../design/section.tsx";
import { TextField } from "../../design/text-field.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { refreshMoney } from "./refresh-money.ts";

const redeem = (code: string) => ask(api.POST("/codes/redeem", { body: { code } }));
type Redeemed = Awaited<ReturnType<typeof redeem>>;

/** A code is worth money, so it is never stored as a draft. */
export function RedeemCode({ timeZone }: { timeZone: string }) {
  const answers = useAnswerCache();
  const [code, setCode] = useState("");
  const [redeemed, setRedeemed] = useState<Redeemed | null>(null);
  const action = useAction(redeem, (result) => {
    setCode("");
    setRedeemed(result);
    void refreshMoney(answers);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setRedeemed(null);
    action.run(code.trim());
  };
  // Every error but the rate limit concerns the code field.
  const beside = action.errorBeside("code");
  return (
    <Section title="Redeem a code" intro="Each code can be redeemed once. Its credit is available immediately.">
      <form onSubmit={submit} noValidate className="flex max-w-sm flex-col items-start gap-4">
        <div className="w-full">
          <TextField
            label="Code"
            name="code"
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            maxLength={100}
            placeholder="7KQ2M-X4TRA-9HPVC-E6WN3"
            className="font-mono"
            value={code}
            onChange={setCode}
            error={action.errorAt("code")}
          />
        </div>
        <FormError message={beside} />
        {redeemed !== null && (
          <Notice kind="success" title={`${formatMoney(redeemed.amount, redeemed.currency)} added`}>
            {describeEnd(redeemed, timeZone)} Available balance: {formatMoney(redeemed.balance, redeemed.currency)}.
          </Notice>
        )}
        <Button type="submit" isBusy={action.isBusy}>
          Redeem
        </Button>
      </form>
    </Section>
  );
}

function describeEnd({ kind, expires_at: expiresAt }: Redeemed, timeZone: string): string {
  if (kind === "cash") return "It does not expire.";
  return expiresAt === null ? "This is gift credit." : `This gift credit expires ${formatMoment(expiresAt, timeZone)}.`;
}
