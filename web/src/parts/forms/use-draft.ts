import { useState } from "react";

const prefix = "sluice-draft:";

/**
 * Text of a form that outlives the page: whoever is sent to sign in finds it again afterwards. Only for what may lie in
 * the browser's storage, so never for passwords, codes or keys.
 */
export function useDraft(name: string, initial = ""): [value: string, setValue: (value: string) => void] {
  const [value, setValue] = useState(() => sessionStorage.getItem(prefix + name) ?? initial);
  const change = (next: string) => {
    setValue(next);
    if (next === initial) sessionStorage.removeItem(prefix + name);
    else sessionStorage.setItem(prefix + name, next);
  };
  return [value, change];
}
