import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";

/** The address may name a place that was not there yet when the browser looked for it; what is folded around it opens. */
export function useAddressedHeading(isThere: boolean): void {
  const { hash } = useLocation();
  useEffect(() => {
    if (!isThere || hash === "") return;
    const place = document.getElementById(decodeURIComponent(hash));
    for (let fold = place?.closest("details"); fold != null; fold = fold.parentElement?.closest("details")) {
      fold.open = true;
    }
    place?.scrollIntoView();
  }, [isThere, hash]);
}
