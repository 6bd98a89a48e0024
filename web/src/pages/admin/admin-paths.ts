// Written by `npm run generate` from docs/operating/admin-openapi.json. Change the routes' schemas, not this file.
// The names at the top follow what openapi-fetch expects.

export type paths = {
  "/identity": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "identity";
            kind: "operator" | "key";
            id: string;
            name: string;
            access: "read" | "write";
            scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
          };
        } };
      };
    };
  };
  "/operators": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "operator";
              id: string;
              email: string;
              name: string | null;
              role: "operator" | "reader";
              has_second_factor: boolean;
              granted_by: string;
              granted_at: string;
            })[];
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          email: string;
          role: "operator" | "reader";
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "operator";
            id: string;
            email: string;
            name: string | null;
            role: "operator" | "reader";
            has_second_factor: boolean;
            granted_by: string;
            granted_at: string;
          };
        } };
      };
    };
  };
  "/operators/{user_id}": {
    delete: {
      parameters: {
        path: {
          user_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/keys": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "admin_key";
              id: string;
              name: string;
              preview: string;
              access: "read" | "write";
              scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
              created_by: string;
              created_at: string;
              expires_at: string | null;
              last_used_at: string | null;
              revoked_at: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          name: string;
          access: "read" | "write";
          scopes?: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
          expires_at?: string;
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "admin_key";
            id: string;
            name: string;
            preview: string;
            access: "read" | "write";
            scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
            created_by: string;
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            revoked_at: string | null;
            key: string;
          };
        } };
      };
    };
  };
  "/keys/{key_id}/revoke": {
    post: {
      parameters: {
        path: {
          key_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never>;
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "admin_key";
            id: string;
            name: string;
            preview: string;
            access: "read" | "write";
            scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
            created_by: string;
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            revoked_at: string | null;
          };
        } };
      };
    };
  };
  "/audit": {
    get: {
      parameters: {
        query?: {
          actor?: string;
          action?: string;
          subject?: string;
          account_id?: string;
          from?: string;
          to?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "audit_entry";
              id: string;
              created_at: string;
              actor: {
                kind: "operator" | "key" | "user" | "command" | "system";
                id: string | null;
                name: string;
              };
              address: string | null;
              action: string;
              subject: string | null;
              account_id: string | null;
              reason: string | null;
              before: Record<string, unknown> | null;
              after: Record<string, unknown> | null;
              request_id: string | null;
              hash: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/audit/verification": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "audit_verification";
            ok: boolean;
            entries: number;
            fault: {
              kind: "changed" | "cut-off";
              id: string;
            } | null;
            head: {
              id: string;
              hash: string;
            } | null;
          };
        } };
      };
    };
  };
  "/accounts": {
    get: {
      parameters: {
        query?: {
          q?: string;
          plan?: string;
          status?: "active" | "suspended" | "frozen" | "closed";
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "account";
              id: string;
              email: string;
              plan: string | null;
              status: "active" | "suspended" | "frozen" | "closed";
              available_balance: string;
              created_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}": {
    get: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
    patch: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          plan?: string | null;
          limits?: {
            requests_per_minute?: number | null;
            tokens_per_minute?: number | null;
            concurrent_requests?: number | null;
            tasks_in_flight?: number | null;
          };
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/plans": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              id: string;
              name: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/charges": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "charge";
              id: string;
              model: string | null;
              unit: "money" | "text" | "image" | "video";
              amount: string;
              refunded: string;
              cause: {
                kind: string;
                id: string;
              };
              created_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/keys": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "api_key";
              id: string;
              name: string;
              kind: "secret" | "client" | "console";
              preview: string | null;
              created_at: string;
              last_used_at: string | null;
              expires_at: string | null;
              revoked_at: string | null;
              budget: {
                amount: string;
                period: string;
              } | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/keys/{key_id}/revoke": {
    post: {
      parameters: {
        path: {
          account_id: string;
          key_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "api_key";
            id: string;
            name: string;
            kind: "secret" | "client" | "console";
            preview: string | null;
            created_at: string;
            last_used_at: string | null;
            expires_at: string | null;
            revoked_at: string | null;
            budget: {
              amount: string;
              period: string;
            } | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/suspend": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/resume": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/credit": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          kind: "top_up" | "grant" | "adjust";
          amount: string;
          unit?: "money" | "text" | "image" | "video";
          expires_at?: string;
          reason: string;
          reference?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "booking";
            id: string;
            replayed: boolean;
            available_balance: string;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/refunds": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          charge_id: string;
          amount: string;
          reason: string;
          reference?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "booking";
            id: string;
            replayed: boolean;
            available_balance: string;
          };
        } };
      };
    };
  };
};
