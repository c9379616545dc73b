package agent.call

import rego.v1

default decision := {"decision": "allow"}

decision := {"decision": "deny", "reason": "do not leak secrets"} if {
	input.tool.name == "github_push"
	some file in input.args.staging
	regex.match(`sk-.*`, file.contents)
}
