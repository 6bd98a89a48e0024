import { useEffect } from "react";
import { useBrand } from "./use-brand.ts";

/** Keeps the document's title and colours in the operator's current brand. */
export function BrandDress() {
  const { name, logo, styles } = useBrand();
  useEffect(() => {
    document.documentElement.dataset.brand = name;
    dressHead('link[rel="stylesheet"][href^="/assets/brand-"]', "stylesheet", styles);
    if (logo !== null) dressHead('link[rel="icon"]', "icon", logo);
  }, [name, logo, styles]);
  return null;
}

function dressHead(selector: string, rel: string, address: string | null): void {
  const known = document.head.querySelector<HTMLLinkElement>(selector);
  if (address === null) known?.remove();
  else if (known === null) document.head.append(Object.assign(document.createElement("link"), { rel, href: address }));
  else if (known.getAttribute("href") !== address) known.href = address;
}
