import { useSession } from "../session/use-session.ts";
import { useDraft } from "./use-draft.ts";

type FormValues = Record<string, string | boolean | readonly string[]>;

/**
 * The fields of a form, which outlive the page like the text of `useDraft`. Each account has its own, so that whoever
 * signs in next sees nothing of them.
 */
export function useFormDraft<Values extends FormValues>(name: string, initial: Values) {
  const [text, setText] = useDraft(`${name}:${useSession().account.id}`);
  const values = text === "" ? initial : mergeStored(initial, text);
  return {
    values,
    change: (part: Partial<Values>) => setText(JSON.stringify({ ...values, ...part })),
    /** Once it has been sent, or given up. */
    forget: () => setText(""),
  };
}

/** A form may have changed since something was stored: what it has now and of the same kind is taken. */
function mergeStored<Values extends FormValues>(initial: Values, text: string): Values {
  const stored: unknown = JSON.parse(text);
  if (typeof stored !== "object" || stored === null) return initial;
  const known = Object.entries(stored).filter(
    ([name, value]) => typeof value === typeof initial[name] && Array.isArray(value) === Array.isArray(initial[name]),
  );
  return { ...initial, ...Object.fromEntries(known) };
}
