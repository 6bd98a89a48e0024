import { useState } from "react";

const prefix = "sluice-draft:";

/** A form text in session storage: it survives a new sign-in. Never for passwords, codes or keys. */
export function useDraft(name: string, initial = ""): [value: string, setValue: (value: string) => void] {
  const [value, setValue] = useState(() => sessionStorage.getItem(prefix + name) ?? initial);
  const change = (next: string) => {
    setValue(next);
    if (next === initial) sessionStorage.removeItem(prefix + name);
    else sessionStorage.setItem(prefix + name, next);
  };
  return [value, change];
}
