import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import { Button } from "../../design/button.tsx";
import { CodeField } from "../../design/code-field.tsx";
import { Notice } from "../../design/notice.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { FocusPage } from "../../parts/frame/focus-page.tsx";

const route = getRouteApi("/signed-in/connect/device");

/** Device flow: a program without a browser shows a code, which the user types here. */
export function DeviceCodePage() {
  const { user_code: given = "" } = route.useSearch();
  const [code, setCode] = useState(given.toUpperCase());
  const action = useAction(
    () => ask(api.POST("/connect/device/lookup", { body: { user_code: code.trim() } })),
    ({ request_id }) => location.assign(`/connect/requests/${encodeURIComponent(request_id)}`),
  );
  return (
    <FocusPage title="Connect a device" intro="Enter the code that the program shows.">
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          action.run(undefined);
        }}
      >
        <FormError message={action.errorBeside("user_code")} />
        <CodeField
          label="Code"
          name="user_code"
          kind="letters"
          value={code}
          onChange={setCode}
          error={action.errorAt("user_code")}
        />
        <Notice kind="warning" title="Only enter a code that you just requested">
          <p>Never enter a code that someone sent you. It would give them access to your account.</p>
        </Notice>
        <Button look="primary" type="submit" isBusy={action.isBusy}>
          Continue
        </Button>
      </form>
    </FocusPage>
  );
}
