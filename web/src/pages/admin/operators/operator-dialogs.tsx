import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { useQueryCache } from "../../../api/use-query-cache.ts";
import { SelectField } from "../../../design/select-field.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { adminApi } from "../admin-api.ts";
import { useAdminRefresh } from "../admin-query-table.ts";
import { ConfirmDialog } from "../confirm-dialog.tsx";
import type { ListedOperator } from "../fetch-admin.ts";

type Role = ListedOperator["role"];

export const roleNames: Readonly<Record<Role, string>> = { operator: "Operator", reader: "Reader" };

const roles = [
  { value: "reader", label: roleNames.reader },
  { value: "operator", label: roleNames.operator },
] as const;

const rights: Readonly<Record<Role, string>> = {
  reader: "Sees everything, changes nothing.",
  operator: "Sees and changes everything, money included.",
};

/** Adds an operator, or changes the role of one. */
export function GrantDialog({ operator, onClose }: { operator: ListedOperator | null; onClose(): void }) {
  const [email, setEmail] = useState(operator?.email ?? "");
  const [role, setRole] = useState<Role>(operator?.role ?? "reader");
  const onDone = useRefreshRights();
  return (
    <ConfirmDialog
      title={operator === null ? "Add operator" : `Change the role of ${operator.email}`}
      submitName={operator === null ? "Add" : "Change role"}
      fields={["email", "role"]}
      send={() => ask(adminApi.POST("/operators", { body: { email: email.trim(), role } }))}
      done={operator === null ? "Operator added." : "Role changed."}
      onDone={onDone}
      onClose={onClose}
    >
      {(errorAt) => (
        <>
          {operator === null && (
            <TextField
              label="Email"
              name="email"
              type="email"
              maxLength={254}
              required
              hint="Of a person who has signed up. They need two-step sign-in."
              value={email}
              onChange={setEmail}
              error={errorAt("email")}
            />
          )}
          <SelectField
            label="Role"
            options={roles}
            value={role}
            onChange={(value) => setRole(value === "operator" ? "operator" : "reader")}
            hint={rights[role]}
            error={errorAt("role") ?? errorAt("user_id")}
          />
        </>
      )}
    </ConfirmDialog>
  );
}

type RevokeDialogProps = { operator: ListedOperator; onClose(): void };

export function RevokeDialog({ operator: { id, email }, onClose }: RevokeDialogProps) {
  const isSelf = useSession().user.id === id;
  const onDone = useRefreshRights();
  return (
    <ConfirmDialog
      title={`Revoke the access of ${email}?`}
      submitName="Revoke"
      look="danger"
      send={() => ask(adminApi.DELETE("/operators/{user_id}", { params: { path: { user_id: id } } }))}
      done="Access revoked."
      onDone={onDone}
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">
        {isSelf ? "You lose access to these pages at once." : "The operator side closes to them at once."} Their own
        account stays. Admin keys stay too: revoke those they know.
      </p>
    </ConfirmDialog>
  );
}

/** One's own role is part of the session. */
function useRefreshRights(): () => void {
  const refresh = useAdminRefresh();
  const answers = useQueryCache();
  return () => {
    void refresh("adminOperators", "adminIdentity");
    void answers.refresh("session");
  };
}
