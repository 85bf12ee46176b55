"""Operations that move entries without changing them."""
