import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { Notice } from "../../design/notice.tsx";
import { SecretText } from "../../design/secret-text.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";

type SecretDialogProps = {
  title: string;
  secret: string;
  /** Whether it can be shown again later, like the account secret. */
  isShownOnce: boolean;
  /** Until when the previous secret also signs. */
  previousUntil: string | undefined;
  onClose(): void;
};

export function SecretDialog({ title, secret, isShownOnce, previousUntil, onClose }: SecretDialogProps) {
  const { time_zone: timeZone } = useSession().account;
  return (
    <Dialog title={title} size="wide" onClose={onClose}>
      {isShownOnce && (
        <Notice kind="warning">The secret is shown only once. Store it on your receiver and nowhere else.</Notice>
      )}
      <SecretText label="Signing secret" text={secret} />
      {previousUntil !== undefined && (
        <p className="text-sm text-ink-soft">
          Until {formatMoment(previousUntil, timeZone)} events are also signed with the previous secret. Every event
          carries both signatures, so your receiver can switch without missing events.
        </p>
      )}
      <div className="flex justify-end">
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
