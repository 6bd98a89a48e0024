import { useSession } from "../session/use-session.ts";
import { useDraft } from "./use-draft.ts";

type FormValues = Record<string, string | boolean | readonly string[]>;

/** Form values stored like `useDraft`. Keyed by account, so another user does not see them. */
export function useFormDraft<Values extends FormValues>(name: string, initial: Values) {
  const [text, setText] = useDraft(`${name}:${useSession().account.id}`);
  const values = text === "" ? initial : mergeStored(initial, text);
  return {
    values,
    change: (part: Partial<Values>) => setText(JSON.stringify({ ...values, ...part })),
    /** After submit or cancel. */
    forget: () => setText(""),
  };
}

/** Takes stored values that the current form still has, with the same type. */
function mergeStored<Values extends FormValues>(initial: Values, text: string): Values {
  const stored: unknown = JSON.parse(text);
  if (typeof stored !== "object" || stored === null) return initial;
  const known = Object.entries(stored).filter(
    ([name, value]) => typeof value === typeof initial[name] && Array.isArray(value) === Array.isArray(initial[name]),
  );
  return { ...initial, ...Object.fromEntries(known) };
}
