package agent.call

import rego.v1

# A write whose identifying argument the user did not type.
default decision := {"decision": "allow"}

decision := {"decision": "requires-approval", "reason": "the user did not name it"} if {
	not input.runtimeContext.tools[input.tool.name].readOnly
	some value in identifying
	not typed(value)
}

identifying contains lower(sprintf("%v", [value])) if {
	some name in input.runtimeContext.tools[input.tool.name].identifying
	some value in array.concat([input.args[name]], items(input.args[name]))
	not is_array(value)
	not is_object(value)
	not is_boolean(value)
	not is_null(value)
}

items(value) := [item | some item in value]

typed(value) if {
	some message in input.messages
	message.role == "user"
	some part in message.content
	contains(lower(part.text), value)
}
